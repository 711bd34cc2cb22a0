import { expect, test } from 'vitest';
import { greenhouse, lever } from '../adapters/index.ts';
import { type Choice, chooseInDropdown } from './dropdown.ts';
import { fillOf, flightsOf, readOf, usePages } from './page.fixture.ts';

const pages = usePages();

const basics = {
  basics: { name: 'Ada Byron', email: 'ada@mail.example', phone: '+353 1 555 0123' },
};
const answered = (question: string, answer: string | readonly string[]) => ({
  ...basics,
  answers: [{ question, answer }],
});

function formWith(widget: string): string {
  return `<form><div><label>Full name <input name="n" required></label></div>
    <div><label>Email <input name="m" type="email" required></label></div>${widget}<button>Apply</button></form>`;
}

/** A third question, which makes the form count as an application form. */
const note = '<div><label>Note <input name="o"></label></div>';

const combobox = (script: string) =>
  `<div class="box"><label for="q">City *</label><input id="q" role="combobox" aria-controls="list" aria-expanded="false"><div id="list" role="listbox" hidden></div></div>
   <script>
   const input = document.getElementById('q');
   const list = document.getElementById('list');
   const show = (labels) => {
     list.hidden = false;
     list.replaceChildren(...labels.map((label) => {
       const option = document.createElement('div');
       option.setAttribute('role', 'option');
       option.textContent = label;
       option.onclick = () => { input.value = label; list.hidden = true; };
       return option;
     }));
   };
   ${script}</script>`;

test('every kind of widget is filled in and holds its value', async () => {
  const page = await pages.show(
    formWith(`<div><label>Start <input type="date" name="d" placeholder="MM/DD/YYYY"></label></div>
      <div><label>Leave <input name="e" placeholder="DD.MM.YYYY"></label></div>
      <div><label>Level <select name="s"><option value="">-</option><option value="1">Junior</option><option value="2">Senior</option></select></label></div>
      <fieldset><legend>Remote?</legend><label><input type="radio" name="r">Yes</label><label><input type="radio" name="r">No</label></fieldset>
      <fieldset><legend>Tools</legend><label><input type="checkbox" name="t">Saw</label><label><input type="checkbox" name="t">File</label><label><input type="checkbox" name="t">Axe</label></fieldset>
      <div><label><input type="checkbox" name="c" required>I agree.</label></div>
      <div><label>Resume <input type="file" name="f"></label></div>`),
  );
  const profile = {
    ...basics,
    answers: [
      { question: 'Start', answer: '2027-02-01' },
      { question: 'Leave', answer: '2028-12-31' },
      { question: 'level', answer: 'SENIOR' },
      { question: 'Remote?', answer: 'No' },
      { question: 'Tools', answer: ['Axe', 'Saw'] },
    ],
    consents: ['I agree'],
    files: { resume: { name: 'cv.pdf', contentType: 'application/pdf', base64: 'YQ==' } },
  };
  expect(await fillOf(page, profile)).toMatchObject({ kind: 'filled', left: [] });
  const { fields } = await readOf(page);
  expect(fields.map(({ field, state }) => [field.key, state])).toEqual([
    ['n', { kind: 'text', text: 'Ada Byron' }],
    ['m', { kind: 'text', text: 'ada@mail.example' }],
    ['d', { kind: 'text', text: '2027-02-01' }],
    ['e', { kind: 'text', text: '31.12.2028' }],
    ['s', { kind: 'chosen', labels: ['Senior'] }],
    ['r', { kind: 'chosen', labels: ['No'] }],
    ['t', { kind: 'chosen', labels: ['Saw', 'Axe'] }],
    ['c', { kind: 'chosen', labels: ['I agree.'] }],
    ['f', { kind: 'files', names: ['cv.pdf'] }],
  ]);
});

test('values that a re-render loses are filled in again', async () => {
  const page = await pages.show(
    `${formWith(note)}<script>
    let times = 0;
    document.addEventListener('input', () => {
      times += 1;
      if (times === 2) setTimeout(() => {
        const form = document.querySelector('form');
        form.replaceWith(form.cloneNode(true));
        document.querySelectorAll('input').forEach((input) => { input.value = ''; });
      });
    });</script>`,
  );
  expect(await fillOf(page, basics)).toMatchObject({ kind: 'filled' });
  expect(
    await page.evaluate(`[...document.querySelectorAll('input')].map((input) => input.value)`),
  ).toEqual(['Ada Byron', 'ada@mail.example', '']);
});

test('a page that never keeps a value is not submitted', async () => {
  const page = await pages.show(
    formWith(`${note}<script>document.querySelector('[name=n]').addEventListener('input', (event) => {
      setTimeout(() => { event.target.value = ''; });
    });</script>`),
  );
  expect(await fillOf(page, basics)).toMatchObject({
    kind: 'invalid_payload',
    message: 'The page refused the values of these fields: “Full name”.',
  });
});

test('a question that appears with an answer is answered, too', async () => {
  const page = await pages.show(
    formWith(`<div><label>Visa? <select name="v"><option value="">-</option><option>Yes</option></select></label></div><div id="more"></div>
      <script>document.querySelector('select').onchange = () => {
        document.querySelector('#more').innerHTML = '<label>Which one? <input name="w" required></label>';
      };</script>`),
  );
  const profile = {
    ...basics,
    answers: [
      { question: 'Visa?', answer: 'Yes' },
      { question: 'Which one?', answer: 'B1' },
    ],
  };
  expect(await fillOf(page, profile)).toMatchObject({ kind: 'filled' });
  expect(await page.inputValue('[name=w]')).toBe('B1');
});

test('a required question without an answer fails before anything is filled in', async () => {
  const page = await pages.show(
    formWith('<div><label>Colour <input name="q" required></label></div>'),
  );
  expect(await fillOf(page, basics)).toMatchObject({ kind: 'invalid_payload', actions: 0 });
  expect(await page.inputValue('[name=n]')).toBe('');
});

test('a required widget that cannot be operated is not supported', async () => {
  const page = await pages.show(
    formWith('<div><label>Colour <input type="color" name="q" required></label></div>'),
  );
  expect(await fillOf(page, answered('Colour', 'red'))).toMatchObject({ kind: 'form_unsupported' });
});

test('a honeypot stays empty', async () => {
  const page = await pages.show(
    formWith(
      note +
        '<div style="position:absolute;left:-5000px"><label>Full name <input name="trap"></label></div>',
    ),
  );
  expect(await fillOf(page, basics)).toMatchObject({ kind: 'filled' });
  expect(await page.inputValue('[name=trap]')).toBe('');
});

test('the node unchecks a consent that the page has checked and the tenant did not give', async () => {
  const page = await pages.show(
    formWith(`<div><label><input type="checkbox" name="c" checked>Send me news</label></div>
      <fieldset><legend>Contact me by</legend><label><input type="checkbox" name="g" value="mail" checked>Mail</label><label><input type="checkbox" name="g" value="call">Call</label><label><input type="checkbox" name="g" value="text" checked>Text</label></fieldset>`),
  );
  expect(await fillOf(page, basics)).toMatchObject({ kind: 'filled' });
  expect(await page.locator(':checked').count()).toBe(0);
});

test('the node keeps only the answered checkboxes of a prechecked group', async () => {
  const page = await pages.show(
    formWith(
      `<fieldset><legend>Contact me by</legend><label><input type="checkbox" name="g" value="mail" checked>Mail</label><label><input type="checkbox" name="g" value="call">Call</label></fieldset>`,
    ),
  );
  expect(await fillOf(page, answered('Contact me by', ['Call']))).toMatchObject({ kind: 'filled' });
  expect(await page.inputValue(':checked')).toBe('call');
});

test('a phone number may be formatted by the page', async () => {
  const page = await pages.show(
    formWith(`<div><label>Phone <input name="p" type="tel" required></label></div><script>
      document.querySelector('[name=p]').oninput = (event) => {
        event.target.value = event.target.value.replace(/[^0-9]/g, '').replace(/^353/, '0');
      };</script>`),
  );
  const result = await fillOf(page, basics);
  expect(result).toMatchObject({ kind: 'invalid_payload' });
  await page.evaluate(`document.querySelector('[name=p]').oninput = (event) => {
    event.target.value = event.target.value.replace('+353 ', '');
  }`);
  expect(await fillOf(page, basics)).toMatchObject({ kind: 'filled' });
});

test('a value that the browser refuses is named by its label', async () => {
  const page = await pages.show(
    formWith('<div><label>Badge <input name="q" pattern="[0-9]+"></label></div>'),
  );
  expect(await fillOf(page, answered('Badge', 'red'))).toMatchObject({
    kind: 'invalid_payload',
    message: 'The page refused the values of these fields: “Badge”.',
  });
});

test('a combobox whose options load late is chosen from', async () => {
  const page = await pages.show(
    formWith(
      combobox(
        `input.onclick = () => { show([]); setTimeout(() => show(['Cork', 'Dublin']), 150); };`,
      ),
    ),
  );
  expect(await fillOf(page, answered('City', 'Dublin'))).toMatchObject({ kind: 'filled' });
  expect(await page.inputValue('#q')).toBe('Dublin');
});

test('a combobox that searches is typed into', async () => {
  const page = await pages.show(
    formWith(
      combobox(`input.oninput = () => {
      const typed = input.value.toLowerCase();
      setTimeout(() => show(['Dublin, Ireland', 'Dublin, Ohio'].filter((one) => one.toLowerCase().startsWith(typed) && typed.length > 1)), 60);
    };`),
    ),
  );
  expect(await fillOf(page, answered('City', 'Dublin, Ohio'))).toMatchObject({ kind: 'filled' });
  expect(await page.inputValue('#q')).toBe('Dublin, Ohio');
});

test('a list of places that finds only cities is searched for the city too', async () => {
  const script = `input.oninput = () => show(input.value === 'Dublin' ? ['Dublin, Leinster'] : ['Elsewhere']);`;
  const page = await pages.show(formWith(combobox(script).replace('City *', 'Location *')));
  const location = { city: 'Dublin', region: 'Leinster', countryCode: 'IE' };
  const profile = { basics: { ...basics.basics, location } };
  expect(await fillOf(page, profile)).toMatchObject({ kind: 'filled' });
  expect(await page.inputValue('#q')).toBe('Dublin, Leinster');
});

test('a combobox that asks a slow server is waited for', async () => {
  const page = await pages.show(
    formWith(
      combobox(`input.oninput = () => {
        setTimeout(() => console.log('answer now'), 1_500);
        fetch('https://places.example/').then((answer) => answer.json()).then(show);
      };`),
    ),
  );
  await page.route('https://places.example/**', async (route) => {
    await page.waitForEvent('console');
    const headers = { 'access-control-allow-origin': '*' };
    await route.fulfill({ headers, json: ['Dublin, Ireland', 'Dublin, Ohio'] });
  });
  expect(await fillOf(page, answered('City', 'Dublin, Ohio'))).toMatchObject({ kind: 'filled' });
  expect(await page.inputValue('#q')).toBe('Dublin, Ohio');
});

test('a field of a page that hangs for some seconds is filled in afterwards', async () => {
  const page = await pages.show(
    formWith(`<label for="q">City *</label><input id="q" required>
      <script>q.onfocus = () => {
        q.onfocus = null;
        for (const end = Date.now() + 5_600; Date.now() < end;);
      };</script>`),
  );
  expect(await fillOf(page, answered('City', 'Dublin'))).toMatchObject({ kind: 'filled' });
  expect(await page.inputValue('#q')).toBe('Dublin');
});

/**
 * Chooses an option in a combobox. If `lastMoment` is 3, the page closes at the third of the moments
 * just before and after a wait for the page.
 */
async function chooseUntil(lastMoment: number): Promise<Choice['kind'] | 'rejected'> {
  const script = `input.onclick = () => show([]);
    input.oninput = () => show(input.value === 'Dublin' ? ['Dublin'] : []);`;
  const page = await pages.show(formWith(combobox(script)));
  const flights = flightsOf(page);
  let moments = 0;
  const pass = async (): Promise<void> => {
    moments += 1;
    if (moments === lastMoment) await page.close();
  };
  const settle: typeof flights.settle = async (...args) => {
    await pass();
    await flights.settle(...args);
    await pass();
  };
  const value = { kind: 'options' as const, labels: ['Dublin'] };
  const { signal } = new AbortController();
  const context = { takesText: false, onAction: () => {}, inFlight: { settle }, signal };
  const control = await (await readOf(page)).element('q');
  return await chooseInDropdown(control, value, context).then(
    ({ kind }) => kind,
    () => 'rejected',
  );
}

test('a combobox whose page dies at any moment lacks no option', async () => {
  const ends = await Promise.all(Array.from({ length: 18 }, (_, index) => chooseUntil(index + 1)));
  expect(new Set(ends)).toEqual(new Set(['rejected', 'chosen']));
});

test('a part of a list is not sent, not even for an optional field', async () => {
  const script = `input.parentElement.querySelector('label').textContent = 'Cities';
    input.multiple = true;
    input.onclick = () => show(['Cork', 'Dublin']);`;
  const page = await pages.show(formWith(combobox(script)));
  expect(await fillOf(page, answered('Cities', ['Cork', 'Galway']))).toMatchObject({
    kind: 'invalid_payload',
    message: expect.stringContaining('“Cities”'),
  });
  expect(await fillOf(page, answered('Cities', ['Galway', 'Cork']))).toMatchObject({
    kind: 'filled',
  });
});

test('an option that only contains the answer is not chosen', async () => {
  const page = await pages.show(
    formWith(combobox(`input.onclick = () => show(['Dublin, Ireland', 'Dublin, Ohio']);`)),
  );
  expect(await fillOf(page, answered('City', 'Dublin'))).toMatchObject({
    kind: 'invalid_payload',
    message: expect.stringContaining('“City”'),
  });
  expect(await page.inputValue('#q')).toBe('');
});

test('an upload that the page refuses is named by its label', async () => {
  const page = await pages.show(
    `<form id="application-form"><div class="field-wrapper"><label for="first_name">First Name</label><input id="first_name"></div>
     <div class="field-wrapper"><label for="resume">Resume</label><input type="file" id="resume" style="display:none"><button type="button">Attach</button><p></p></div>
     <script>document.querySelector('#resume').onchange = (event) => setTimeout(() => {
       event.target.value = '';
       const message = document.querySelector('p');
       message.className = 'helper-text--error';
       message.textContent = 'Not accepted';
     }, 50);</script></form>`,
  );
  const files = { resume: { name: 'cv.pdf', contentType: 'application/pdf', base64: 'YQ==' } };
  expect(await fillOf(page, { ...basics, files }, greenhouse)).toMatchObject({
    kind: 'invalid_payload',
    message: 'The page refused the values of these fields: “Resume”.',
  });
});

test("Lever's location is chosen from its suggestions", async () => {
  const page = await pages.show(
    `<form id="application-form"><ul><li class="application-question"><label><div class="application-label">Resume</div><input id="resume-upload-input" name="resume" type="file"></label></li>
     <li class="application-question"><label><div class="application-label">Current location ✱</div><input class="location-input" name="location"><div class="dropdown-results"></div></label></li></ul></form>
     <script>
     const input = document.querySelector('[name=location]');
     const results = document.querySelector('.dropdown-results');
     let chosen = '';
     input.onkeydown = () => setTimeout(() => {
       results.innerHTML = '<div class="dropdown-location">Dublin, Ireland</div>';
       results.firstChild.onmousedown = () => { chosen = input.value = 'Dublin, Ireland'; results.replaceChildren(); };
     }, 100);
     input.onblur = () => { if (!chosen) input.value = ''; };
     </script>`,
  );
  const profile = answered('Current location', 'Dublin, Ireland');
  expect(await fillOf(page, profile, lever)).toMatchObject({ kind: 'filled' });
  await page.locator('[name=location]').blur();
  expect(await page.inputValue('[name=location]')).toBe('Dublin, Ireland');
});

test('a box under a banner is checked', async () => {
  const page = await pages.show(
    formWith(`<div><label><input type="checkbox" name="c" required>I agree</label></div>
      <div style="position:fixed;inset:0;background:#fff">Cookies?</div>`),
  );
  expect(await fillOf(page, { ...basics, consents: ['I agree'] })).toMatchObject({
    kind: 'filled',
  });
  expect(await page.isChecked('[name=c]')).toBe(true);
});
