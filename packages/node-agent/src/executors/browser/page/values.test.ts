import { expect, test } from 'vitest';
import { fillOf, readOf, usePages } from './page.fixture.ts';

const pages = usePages();
const basics = { name: 'Ada Byron', email: 'ada@mail.example' };
const formWith = (widget: string): string =>
  `<form><div><label>Full name <input name="n" required></label></div>
   <div><label>Email <input name="m" type="email" required></label></div>
   <div><label>Note <input name="o"></label></div>${widget}<button>Apply</button></form>`;
const answered = (question: string, answer: string) => ({
  basics,
  answers: [{ question, answer }],
});

test.each([
  ['placeholder="TT.MM.JJJJ"', '01.02.2027'],
  ['placeholder="jj/mm/aaaa"', '01/02/2027'],
  ['placeholder="dd-mm-jjjj"', '01-02-2027'],
  ['placeholder="gg/mm/aaaa"', '01/02/2027'],
  ['placeholder="rrrr-mm-dd"', '2027-02-01'],
  ['placeholder="åååå-mm-dd"', '2027-02-01'],
  ['placeholder="e.g. 12/31/2026"', '02/01/2027'],
  ['placeholder="m/d/yy"', '2/1/27'],
  [String.raw`pattern="\d{2}\.\d{2}\.\d{4}"`, '01.02.2027'],
  ['title="TT.MM.JJ"', '01.02.27'],
])('a date is entered in the format of %s', async (attribute, text) => {
  const page = await pages.show(
    formWith(`<div><label>Start <input name="d" required ${attribute}></label></div>`),
  );
  expect(await fillOf(page, answered('Start', '2027-02-01'))).toMatchObject({ kind: 'filled' });
  expect(await page.inputValue('[name=d]')).toBe(text);
});

test.each([
  [
    '<select name="a" aria-label="Tag"><option value="">Tag</option><option>01</option><option>02</option></select><select name="b" aria-label="Monat"><option value="">-</option><option value="x">Januar</option><option value="y">Februar</option></select><select name="c" aria-label="Jahr"><option value="">-</option><option>2027</option></select>',
    { a: '01', b: 'y', c: '2027' },
  ],
  [
    '<input name="b" placeholder="MM"><input name="a" placeholder="DD"><input name="c" placeholder="YYYY">',
    { a: '01', b: '02', c: '2027' },
  ],
  [
    '<select name="b"><option value="">Month</option><option value="2">Feb</option><option value="3">Mar</option></select><select name="c"><option value="">Year</option><option>2026</option><option>2027</option></select>',
    { b: '2', c: '2027' },
  ],
])('a date in parts is entered part by part: %s', async (parts, values) => {
  const page = await pages.show(formWith(`<fieldset><legend>Start *</legend>${parts}</fieldset>`));
  expect(await fillOf(page, answered('Start', '2027-02-01'))).toMatchObject({ kind: 'filled' });
  const all = await page.evaluate(
    `Object.fromEntries(new FormData(document.querySelector('form')))`,
  );
  expect(all).toMatchObject(values);
});

test.each([
  ['type="number" min="0"', '120,000', '120000'],
  [
    `oninput="this.value = Number(this.value.replace(/\\D/g, '')).toLocaleString('de-DE')"`,
    '120000',
    '120.000',
  ],
  [`oninput="this.value = '$' + this.value.replace(/\\D/g, '')"`, '120 000', '$120000'],
])('a number is compared by its digits: %s', async (attribute, answer, value) => {
  const page = await pages.show(
    formWith(`<div><label>Salary <input name="s" required ${attribute}></label></div>`),
  );
  expect(await fillOf(page, answered('Salary', answer))).toMatchObject({ kind: 'filled' });
  expect(await page.inputValue('[name=s]')).toBe(value);
});

test.each(['7+', '5-7', 'seven'])('a field for numbers takes no %s', async (answer) => {
  const page = await pages.show(
    formWith('<div><label>Years <input name="s" type="number" required></label></div>'),
  );
  expect(await fillOf(page, answered('Years', answer))).toMatchObject({
    kind: 'invalid_payload',
    message: 'The page refused the values of these fields: “Years”.',
  });
});

const letter = 'Dear team,\n\nI would like to join you.\n\nAda';
test.each([
  '<p id="l">Letter *</p><div role="textbox" contenteditable="true" aria-labelledby="l" aria-required="true" style="min-height:90px"><p><br></p></div>',
  '<label for="t">Letter *</label><textarea id="t" style="display:none"></textarea><div><iframe title="Rich Text Area" srcdoc="<body contenteditable=true></body>"></iframe></div>',
  `<p id="l">Letter *</p><div role="textbox" contenteditable="true" aria-labelledby="l" style="min-height:90px" oninput="const lines = this.innerText.replace(/\\n$/, '').split('\\n'); this.innerHTML = lines.map((line) => '<p>' + (line || '<br>') + '</p>').join('')"><p><br></p></div>`,
])('a letter keeps its paragraphs in an editor: %s', async (editor) => {
  const page = await pages.show(formWith(`<div>${editor}</div>`));
  await page.waitForLoadState('load');
  expect(await fillOf(page, answered('Letter', letter))).toMatchObject({ kind: 'filled' });
  const state = (await readOf(page)).fields.find(({ field }) => field.label === 'Letter')?.state;
  const text = state?.kind === 'text' ? state.text : '';
  expect(text.split(/\n+/u).map((line) => line.trim())).toEqual(letter.split(/\n+/u));
});
