import { describe, expect, test } from 'vitest';
import { ashby, greenhouse, lever } from '../adapters/index.ts';
import { readOf, usePages } from './page.fixture.ts';

const pages = usePages();

/** A form with the widget, and with enough other fields to count as an application form. */
function formWith(widget: string): string {
  return `<form><div><label>First name <input name="a"></label></div><div>${widget}</div>
    <div><label>CV <input type="file" name="cv"></label></div><button>Apply</button></form>`;
}

async function fieldFor(widget: string) {
  const { fields } = await readOf(await pages.show(formWith(widget)));
  return fields.filter(({ field }) => !['a', 'cv'].includes(field.key));
}

describe('the label of a field', () => {
  test.each([
    ['label[for]', '<label for="x">City</label><input id="x" name="q">'],
    ['a label around it', '<label><span>City</span> <input name="q"></label>'],
    ['aria-label', '<input name="q" aria-label="City">'],
    ['aria-labelledby', '<b id="l1">City</b><input name="q" aria-labelledby="l1">'],
    ['the legend of a fieldset', '<fieldset><legend>City</legend><input name="q"></fieldset>'],
    ['a cell before it', '<table><tr><td>City</td><td><input name="q"></td></tr></table>'],
    ['a title', '<input name="q" title="City">'],
    ['a placeholder', '<input name="q" placeholder="City">'],
  ])('is read from %s', async (_way, widget) => {
    const [report] = await fieldFor(widget);
    expect(report?.field).toMatchObject({ key: 'q', kind: 'text', label: 'City' });
  });

  test('is the visible label, and not the placeholder, if there are both', async () => {
    const [report] = await fieldFor(
      '<label for="x">City</label><input id="x" placeholder="Berlin">',
    );
    expect(report?.field.label).toBe('City');
  });

  test('has neither hidden texts nor the texts of options', async () => {
    const [report] = await fieldFor(
      '<label>City <span hidden>secret</span><select name="q"><option value="1">Bonn</option></select></label>',
    );
    expect(report?.field.label).toBe('City');
  });

  test('never belongs to a neighbour', async () => {
    const reports = await fieldFor('<label for="x">City</label><input id="x"><input name="alone">');
    expect(reports.map(({ field }) => field.label)).toEqual(['City', '']);
  });
});

describe('a required field', () => {
  test.each([
    ['required', '<label>City <input name="q" required></label>'],
    ['aria-required', '<label>City <input name="q" aria-required="true"></label>'],
    ['an asterisk', '<label>City <span aria-hidden="true">*</span><input name="q"></label>'],
    ['the word in brackets', '<label>City (required) <input name="q"></label>'],
    [
      'a star of the style sheet',
      '<style>.m::after{content:" *"}</style><label><span class="m">City</span><input name="q"></label>',
    ],
    [
      'a legend with a star',
      '<fieldset><legend>City *</legend><label><input type="radio" name="q">Bonn</label><label><input type="radio" name="q">Ulm</label></fieldset>',
    ],
  ])('is known by %s', async (_mark, widget) => {
    const [report] = await fieldFor(widget);
    expect(report?.field.isRequired).toBe(true);
  });

  test('keeps its mark out of its label', async () => {
    const [report] = await fieldFor('<label>City <span>*</span><input name="q"></label>');
    expect(report?.field.label).toBe('City');
  });

  test('is not one with a question that has the word required', async () => {
    const [report] = await fieldFor('<label>Is a visa required? <input name="q"></label>');
    expect(report?.field.isRequired).toBe(false);
  });
});

describe('the kind of a field', () => {
  test.each([
    ['text', '<textarea name="q" aria-label="Q"></textarea>'],
    ['text', '<div contenteditable="true" id="q" aria-label="Q">x</div>'],
    ['date', '<input type="date" name="q" aria-label="Q">'],
    ['date', '<input name="q" aria-label="Q" placeholder="DD/MM/YYYY">'],
    ['file', '<input type="file" name="q" aria-label="Q">'],
    [
      'select',
      '<select name="q" aria-label="Q"><option value="">-</option><option>A</option></select>',
    ],
    ['combobox', '<input role="combobox" name="q" aria-label="Q">'],
    ['combobox', '<button aria-haspopup="listbox" id="q" aria-label="Q">Select...</button>'],
    ['checkbox', '<label><input type="checkbox" name="q">Q</label>'],
    ['unsupported', '<input type="color" name="q" aria-label="Q">'],
    ['unsupported', '<input type="range" name="q" aria-label="Q">'],
  ])('is %s for %s', async (kind, widget) => {
    const [report] = await fieldFor(widget);
    expect(report?.field).toMatchObject({ kind, label: 'Q' });
  });

  test('radios of one name are one question with the labels of its options', async () => {
    const [report, ...others] = await fieldFor(
      '<fieldset><legend>Remote?</legend><label><input type="radio" name="q" value="1">Yes</label><input type="radio" name="q" id="n" checked><label for="n">No</label></fieldset>',
    );
    expect(others).toEqual([]);
    expect(report?.field).toMatchObject({
      kind: 'radio',
      label: 'Remote?',
      options: ['Yes', 'No'],
    });
    expect(report?.state).toEqual({ kind: 'chosen', labels: ['No'] });
  });

  test('boxes with different names in a named group are one question', async () => {
    const [report, ...others] = await fieldFor(
      '<p id="t">Tools</p><div role="group" aria-labelledby="t"><label><input type="checkbox" name="1">Saw</label><label><input type="checkbox" name="2">File</label></div>',
    );
    expect(others).toEqual([]);
    expect(report?.field).toMatchObject({
      kind: 'checkboxes',
      label: 'Tools',
      options: ['Saw', 'File'],
    });
  });

  test('radios and boxes that alternate in one group are two questions', async () => {
    const reports = await fieldFor(
      '<fieldset><legend>Start</legend><div role="radio">Now</div><label><input type="checkbox" name="1">Mornings</label><div role="radio">Later</div><label><input type="checkbox" name="2">Evenings</label></fieldset>',
    );
    expect(reports.map(({ field }) => [field.kind, field.options])).toEqual([
      ['radio', ['Now', 'Later']],
      ['checkboxes', ['Mornings', 'Evenings']],
    ]);
  });

  test('two consents without a group stay two fields', async () => {
    const reports = await fieldFor(
      '<label><input type="checkbox" name="c1">I agree</label><label><input type="checkbox" name="c2">Send me news</label>',
    );
    expect(reports.map(({ field }) => [field.kind, field.label])).toEqual([
      ['checkbox', 'I agree'],
      ['checkbox', 'Send me news'],
    ]);
  });

  test('the options of a select leave out its placeholder', async () => {
    const [report] = await fieldFor(
      '<select name="q" aria-label="Q"><option value="">Please choose</option><option value="1">A</option><option value="2">B</option></select>',
    );
    expect(report?.field.options).toEqual(['A', 'B']);
    expect(report?.optionIndexes).toEqual([1, 2]);
    expect(report?.state).toEqual({ kind: 'chosen', labels: [] });
  });
});

describe('fields that a person cannot see', () => {
  test.each([
    ['not displayed', '<label style="display:none">Website <input name="q"></label>'],
    ['invisible', '<input name="q" aria-label="Website" style="visibility:hidden">'],
    ['transparent', '<input name="q" aria-label="Website" style="opacity:0">'],
    [
      'off the page',
      '<input name="q" aria-label="Website" style="position:absolute;left:-9999px">',
    ],
    [
      'clipped',
      '<input name="q" aria-label="Website" style="position:absolute;clip:rect(0,0,0,0)">',
    ],
    [
      'without an area',
      '<input name="q" aria-label="Website" style="width:0;height:0;border:0;padding:0">',
    ],
    ['out of the tab order', '<input name="q" aria-label="Website" tabindex="-1">'],
    [
      'hidden from assistive technology',
      '<div aria-hidden="true"><input name="q" aria-label="Website"></div>',
    ],
    ['disabled', '<input name="q" aria-label="Website" disabled>'],
  ])('are left out if they are %s', async (_how, widget) => {
    expect(await fieldFor(widget)).toEqual([]);
  });

  test('a hidden upload under a visible button is read', async () => {
    const [report] = await fieldFor(
      '<label for="q">Portfolio</label><input type="file" id="q" style="display:none"><button type="button">Choose</button>',
    );
    expect(report?.field).toMatchObject({ kind: 'file', label: 'Portfolio' });
  });

  test('an upload that nothing visible belongs to is left out', async () => {
    expect(await fieldFor('<input type="file" id="q" style="display:none">')).toEqual([]);
  });

  test('radios that a style replaces are read by their labels', async () => {
    const [report] = await fieldFor(
      '<fieldset><legend>Q</legend><label><input type="radio" name="q" style="opacity:0;position:absolute">Yes</label><label><input type="radio" name="q" style="opacity:0;position:absolute">No</label></fieldset>',
    );
    expect(report?.field.options).toEqual(['Yes', 'No']);
  });
});

test('fields in open shadow roots are read, unless their host is hidden', async () => {
  const page = await pages.show(
    formWith('<div class="host"></div><div class="host" aria-hidden="true"></div>'),
  );
  await page.evaluate(`for (const host of document.querySelectorAll('.host'))
    host.attachShadow({ mode: 'open' }).innerHTML =
      '<label for="x">City</label><input id="x" name="q">'`);
  const { fields } = await readOf(page);
  expect(fields.map(({ field }) => field.label)).toEqual(['First name', 'City', 'CV']);
});

test('a page with two application forms has none', async () => {
  const form = '<form><input name="a"><input name="b"><input name="c"></form>';
  await expect(readOf(await pages.show(form + form))).rejects.toThrow('no form');
});

test('searches, newsletters and sign-ins are no application forms', async () => {
  const page = await pages.show(
    `<form role="search"><input name="q"><input name="r"><input name="s"></form><form><input type="email"></form>
     <form><input name="u"><input type="password"><input name="t"></form>${formWith('')}`,
  );
  expect((await readOf(page)).fields.map(({ field }) => field.key)).toEqual(['a', 'cv']);
});

test('a react-select shows its choice next to its input', async () => {
  const page = await pages.show(
    `<form id="application-form"><div class="field-wrapper"><label for="first_name">First Name*</label><input id="first_name"></div>
     <div class="field-wrapper"><label id="country-label" for="country">Country<span aria-hidden="true">*</span></label>
     <div class="select__control"><div class="select__single-value">Ireland</div><div><input id="country" role="combobox" aria-required="true" style="opacity:0;width:2px;border:0;padding:0"></div></div>
     <input required tabindex="-1" aria-hidden="true" style="opacity:0"></div></form>`,
  );
  const { fields } = await readOf(page, greenhouse);
  expect(fields.map(({ field, state }) => [field.key, field.kind, field.label, state])).toEqual([
    ['first_name', 'text', 'First Name', { kind: 'text', text: '' }],
    ['country', 'combobox', 'Country', { kind: 'chosen', labels: ['Ireland'] }],
  ]);
  expect(fields[0]?.field).toMatchObject({ role: 'givenName', isRequired: true });
});

test('a question of Lever has the label of its title, without the texts of its upload', async () => {
  const page = await pages.show(
    `<form id="application-form"><ul><li class="application-question"><label><div class="application-label">Resume/CV <span class="required">✱</span></div>
     <div class="application-field"><a href="#">ATTACH</a><input id="resume-upload-input" name="resume" type="file" tabindex="-1" style="opacity:0"><span>Analyzing resume...</span></div></label></li>
     <li class="application-question custom-question"><div class="application-label"><div class="text">Remote?</div></div><ul>
     <li><label><input type="radio" name="cards[1][field0]"><span>Yes</span></label></li><li><label><input type="radio" name="cards[1][field0]"><span>No</span></label></li></ul></li></ul></form>`,
  );
  const { model } = await readOf(page, lever);
  expect(model.fields).toMatchObject([
    { kind: 'file', label: 'Resume/CV', isRequired: true, role: 'resumeFile' },
    { kind: 'radio', label: 'Remote?', options: ['Yes', 'No'] },
  ]);
});

test('Ashby is read by its paths, without its second upload and the box behind two buttons', async () => {
  const page = await pages.show(
    `<main id="form"><div class="ashby-application-form-autofill-input-root"><input type="file"><button>Upload file</button></div>
     <div class="ashby-application-form-field-entry" data-field-path="_systemfield_resume"><label class="ashby-application-form-question-title _required_1" for="_systemfield_resume">Resume</label><input type="file" id="_systemfield_resume" style="display:none"><button>Upload</button></div>
     <div class="ashby-application-form-field-entry" data-field-path="5b7c"><label class="ashby-application-form-question-title" for="5b7c">Remote?</label><div class="ashby-application-form-input-yesno"><button aria-pressed="true">Yes</button><button aria-pressed="false">No</button><input type="checkbox" name="5b7c" tabindex="-1"></div></div></main>`,
  );
  const { fields } = await readOf(page, ashby);
  expect(fields.map(({ field }) => field)).toMatchObject([
    { key: '_systemfield_resume', kind: 'file', isRequired: true, role: 'resumeFile' },
    { key: '5b7c', kind: 'radio', label: 'Remote?', options: ['Yes', 'No'] },
  ]);
  expect(fields[1]?.state).toEqual({ kind: 'chosen', labels: ['Yes'] });
});

test('each field has another key, even if the page gives two fields one name', async () => {
  const named = ['b', 'b-3', 'b'].map((name) => `<label>Q <input name="${name}"></label>`);
  const reports = await fieldFor(named.join(''));
  expect(new Set(reports.map(({ field }) => field.key)).size).toBe(3);
});

test('the same page is read to the same model twice', async () => {
  const page = await pages.show(formWith('<label>City <input name="q"></label>'));
  expect((await readOf(page)).model).toEqual((await readOf(page)).model);
});
