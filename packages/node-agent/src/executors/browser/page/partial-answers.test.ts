import { expect, test } from 'vitest';
import { fillOf, usePages } from './page.fixture.ts';

const pages = usePages();
const basics = { basics: { name: 'Ada Byron', email: 'ada@mail.example' } };
const formWith = (widget: string) =>
  `<form><div><label>Full name <input name="n" required></label></div>
    <div><label>Email <input name="m" type="email" required></label></div>${widget}<button>Apply</button></form>`;

/** Like react-select with several values: an option that is chosen leaves the list. */
const several = (script: string) =>
  `<div class="box"><label for="q">Cities</label><span id="values"></span><input id="q" role="combobox" multiple aria-controls="list"><div id="list" role="listbox" hidden></div></div>
   <script>
   const input = document.getElementById('q');
   const list = document.getElementById('list');
   const chosen = [];
   const show = (labels) => {
     list.hidden = false;
     list.replaceChildren(...labels.filter((one) => !chosen.includes(one)).map((label) => {
       const option = document.createElement('div');
       option.setAttribute('role', 'option');
       option.textContent = label;
       option.onclick = () => { pick(label); input.value = ''; list.hidden = true; };
       return option;
     }));
   };
   const draw = () => { values.innerHTML = chosen.map((one) => '<b class="multi-value__label">' + one + '</b>').join(''); };
   const pick = (label) => { chosen.push(label); draw(); };
   input.onclick = () => show(['Cork', 'Dublin']);
   ${script}</script>`;

const profile = { ...basics, answers: [{ question: 'Cities', answer: ['Cork', 'Dublin'] }] };

test('a list of which the page keeps only a part is not sent', async () => {
  // The page keeps one value only.
  const page = await pages.show(
    formWith(
      several(`const all = pick;
    document.addEventListener('click', () => { chosen.length = Math.min(chosen.length, 1); draw(); });`),
    ),
  );
  const result = await fillOf(page, profile);
  expect(result.kind).not.toBe('filled');
});

test('a list whose second option cannot be clicked is not sent', async () => {
  const page = await pages.show(
    formWith(
      several(`input.addEventListener('click', () => {
      for (const option of list.children) if (option.textContent === 'Dublin') option.style.pointerEvents = 'none';
    });`),
    ),
  );
  const result = await fillOf(page, profile);
  expect(result.kind).not.toBe('filled');
});

test('an optional list that the page sets after another field is filled in', async () => {
  const page = await pages.show(`<form><div><label>Full name <input name="n" required></label></div>
    <div><label>Email <input name="m" type="email" required></label></div>
    <div class="box"><label for="q">Language</label><span id="values"></span><input id="q" role="combobox" aria-controls="list">
      <div id="list" role="listbox" hidden><div role="option">English</div></div></div><button>Apply</button></form>
    <script>
    document.querySelector('[name=m]').addEventListener('input', () => { values.innerHTML = '<b class="single-value">English</b>'; });
    q.onclick = () => { list.hidden = false; };
    </script>`);
  const result = await fillOf(page, {
    basics: { name: 'Ada Byron', email: 'ada@mail.example' },
    answers: [{ question: 'Language', answer: 'Welsh' }],
  });
  expect(result.kind).toBe('filled');
});
