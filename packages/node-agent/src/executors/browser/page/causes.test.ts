import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { fillOf, usePages } from './page.fixture.ts';

const pages = usePages();
const basics = { name: 'Ada Byron', email: 'ada@mail.example' };
const answers = [
  { question: 'Visa?', answer: 'Yes' },
  { question: 'Which one?', answer: 'B1' },
  { question: 'Until?', answer: '2027-02-01' },
];
const site = 'https://api.example/';
const cors = { 'access-control-allow-origin': '*' };

const form = (script: string): string =>
  `<form><div><label>Full name <input name="n" required></label></div>
   <div><label>Visa? <select name="v"><option value="">-</option><option>Yes</option></select></label></div>
   <div id="more"></div><div id="last"></div>
   <div><label>Email <input name="m" type="email" required></label></div><button disabled>Apply</button></form>
   <script>
   const visa = document.querySelector('[name=v]');
   const ask = () => { more.innerHTML = '<label>Which one? <input name="w" required></label>'; };
   const askMore = () => { last.innerHTML = '<label>Until? <input name="u" type="date" required></label>'; };
   ${script}</script>`;

const valuesOf = async (page: Page) =>
  await page.evaluate(`Object.fromEntries(new FormData(document.querySelector('form')))`);
const whole = { n: 'Ada Byron', v: 'Yes', w: 'B1', u: '2027-02-01', m: 'ada@mail.example' };

test('questions that a request and then a timer bring are answered', async () => {
  const page = await pages.show(
    form(`visa.onchange = () => fetch('${site}').then((answer) => answer.text()).then(() => {
      ask(); document.querySelector('[name=w]').onblur = () => setTimeout(askMore, 1_200);
    });`),
  );
  await page.route(`${site}**`, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    await route.fulfill({ headers: cors, body: 'ask' });
  });
  expect(await fillOf(page, { basics, answers })).toMatchObject({ kind: 'filled' });
  expect(await valuesOf(page)).toEqual(whole);
});

test('a button that the page enables when a field is left is enabled', async () => {
  const page = await pages.show(
    form(`ask(); askMore(); document.querySelector('[name=m]').onblur = () => {
      document.querySelector('button').disabled = false;
    };`),
  );
  expect(await fillOf(page, { basics, answers })).toMatchObject({ kind: 'filled' });
  expect(await page.isEnabled('button')).toBe(true);
});

test('requests that never end and timers that never rest hang nothing', async () => {
  const page = await pages.show(
    form(`ask(); askMore();
      document.addEventListener('input', () => { fetch('${site}poll'); navigator.sendBeacon('${site}beacon', 'x'); });
      new EventSource('${site}events');
      setInterval(() => {}, 20);
      (function spin() { setTimeout(spin, 30); })();
      (async () => { for (;;) await new Promise((resolve) => setTimeout(resolve, 40)); })();`),
  );
  await page.route(`${site}**`, () => {});
  const startedMs = performance.now();
  expect(await fillOf(page, { basics, answers })).toMatchObject({ kind: 'filled' });
  // Each address that never answers is waited for once.
  expect(performance.now() - startedMs).toBeLessThan(25_000);
  expect(await valuesOf(page)).toEqual(whole);
});

test('the same page leads to the same keystrokes, however late its answers are', async () => {
  const traces = new Set<string>();
  let seed = 7;
  const late = (): number => (seed = (seed * 48_271) % 2_147_483_647) % 180;
  for (let run = 0; run < 8; run += 1) {
    const page = await pages.show(
      form(`window.trace = [];
        for (const kind of ['focusin', 'keydown', 'input', 'change'])
          document.addEventListener(kind, (event) => trace.push(kind + ' ' + event.target.name + ' ' + event.target.value), true);
        visa.onchange = () => setTimeout(() => fetch('${site}').then((answer) => answer.text()).then(() => {
          setTimeout(ask, ${late()}); setTimeout(askMore, ${late()});
        }), ${late()});`),
    );
    await page.route(`${site}**`, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, late()));
      await route.fulfill({ headers: cors, body: 'ask' });
    });
    expect(await fillOf(page, { basics, answers })).toMatchObject({ kind: 'filled' });
    traces.add(JSON.stringify(await page.evaluate('window.trace')));
    await page.close();
  }
  expect(traces.size).toBe(1);
});
