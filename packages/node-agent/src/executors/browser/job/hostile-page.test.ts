import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { JobFailed } from '../../../executor.ts';
import { openTestBrowser, startFormProxy } from '../chromium/chromium.fixture.ts';
import { form, run, startSite } from './site.fixture.ts';

/** The agent bounds what it keeps of a page, and a page harms its own job only (CONTRACT 10). */

const grownMbMax = 8;
/** The neighbour shares the cores with the browser of the attack. */
const paceRatioMax = 5;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** The memory of this process that is still in use. */
function usedMb(): number {
  // The first collection may leave buffers to a thread. The second one waits for this thread.
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}

/** Each attack has a text of 1 MB, and is repeated. */
const attacks = {
  logs: 'console.log(text)',
  errors: 'setTimeout(() => { throw new Error(text); })',
  rejections: 'void Promise.reject(new Error(text))',
  workers: `new Worker(URL.createObjectURL(new Blob(['onmessage = ({ data }) => console.log(data)']))).postMessage(text)`,
  dialogs: 'alert(text.slice(0, 2e5))',
  addresses: `document.title = text; history.replaceState(null, '', '#' + text)`,
  bodies: `fetch('/long', { method: 'POST', body: text }).then((answer) => answer.text())`,
  downloads: `Object.assign(document.createElement('a'), { download: text, href: 'data:,' + text }).click()`,
  frames: `document.body.append(Object.assign(document.createElement('iframe'), { srcdoc: '<script>console.log("' + text + '")</' + 'script>' }))`,
};
const repetitions = 2;
const repeated = (act: string): string =>
  `for (let n = 0; n < ${repetitions}; n += 1) { const text = n + 'x'.repeat(1e6); ${act}; }`;

test('the agent keeps nothing of what a page logs, throws, opens and sends', async () => {
  const proxy = await startFormProxy();
  const { page } = await openTestBrowser({ proxyUrl: proxy.url });
  await page.goto('http://site.example/');
  const startMb = usedMb();
  const grownMb: Record<string, number> = {};
  for (const [name, act] of Object.entries(attacks)) {
    await page.evaluate(`{ ${repeated(act)} } new Promise((resolve) => setTimeout(resolve, 200))`);
    grownMb[name] = Math.round(usedMb() - startMb);
  }
  process.stdout.write(`${JSON.stringify(grownMb)}\n`);
  expect(Object.entries(grownMb).filter(([, mb]) => mb >= grownMbMax)).toEqual([]);
});

test('a page that attacks the agent ends its own job only', async () => {
  const act = repeated(`${attacks.logs}; ${attacks.errors}; ${attacks.bodies}`);
  const hostile = await startSite('', `${form}<script>setInterval(() => { ${act} }, 50)</script>`);
  const plain = await startSite('<h1>Thank you for applying</h1>');
  const neighbour = async (): Promise<number> => {
    const startedMs = performance.now();
    const { error } = await run(plain);
    expect(error).toBeUndefined();
    return performance.now() - startedMs;
  };
  const quietMs = await neighbour();
  const [attackedMs, { error }] = await Promise.all([
    neighbour(),
    run(hostile, { maxNodeSeconds: 18 }),
  ]);
  expect(error).toBeInstanceOf(JobFailed);
  process.stdout.write(`${quietMs} ms alone, ${attackedMs} ms during an attack\n`);
  expect(attackedMs / quietMs).toBeLessThan(paceRatioMax);
});
