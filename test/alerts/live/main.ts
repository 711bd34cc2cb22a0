import { mkdirSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { prometheusPrograms, stateDir } from '@svc/local';
import { launchBrowser } from '../../browser/browser.fixture.ts';
import { endEarlyInOrder } from '../../faults/end-early.ts';
import { liveFaults } from './faults.ts';
import { alertFaults } from './judge.ts';
import { takePictures } from './pictures.ts';
import { addActiveTenants, measureScrapes, scrapeMsMax } from './scrapes.ts';
import { runTrial } from './trial.ts';

/**
 * `pnpm alerts:live`: checks with a real Prometheus which alerts each fault causes
 * (docs/lab/alerts.md). The last line is the verdict.
 */
endEarlyInOrder();
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    out: { type: 'string', default: path.join(stateDir(), 'alerts-live') },
    rate: { type: 'string', default: '8' },
    quiet: { type: 'string', default: '130' },
    seconds: { type: 'string', default: '100' },
    after: { type: 'string', default: '140' },
    tenants: { type: 'string', default: '1000' },
    'without-fault': { type: 'boolean', default: false },
  },
});
const say = (line: string) => void process.stdout.write(`${line}\n`);
const seconds = (value: number) => `${value.toFixed(0)} s`;
const chosen = liveFaults.filter(({ name }) => name.includes(values.only));
const tenants = Number(values.tenants);
const faults: string[] = [];
const verdicts: string[] = [];
const scrapesMs: number[] = [];

mkdirSync(values.out, { recursive: true });
const programs = await prometheusPrograms(() => say('fetching Prometheus from Debian packages'));
const browser = await launchBrowser();
try {
  for (const fault of chosen) {
    const watched = await runTrial({
      programs,
      fault,
      strikes: !values['without-fault'],
      perSecond: Number(values.rate),
      quietSeconds: Number(values.quiet),
      faultSeconds: Number(values.seconds),
      afterSeconds: Number(values.after),
      say,
      async onNotice({ url }) {
        const files = await takePictures(browser, { url, dir: values.out, name: fault.name });
        say(`${fault.name}: ${files.length} pictures in ${values.out}`);
      },
      ...(fault === chosen.at(-1) && tenants > 0 ? { onEnd: scrape } : {}),
    });
    const { fired, endedSeconds } = watched;
    const list = [...fired].map(([name, after]) => `${name} after ${seconds(after)}`).join(', ');
    const end =
      endedSeconds === undefined
        ? 'the required alerts did not end'
        : `the required alerts had ended ${seconds(endedSeconds)} after the repair`;
    verdicts.push(`${fault.name}: ${list === '' ? 'no alert' : `${list}; ${end}`}`);
    faults.push(...alertFaults(fault, watched).map((what) => `${fault.name}: ${what}`));
  }
} finally {
  await browser.close();
}
for (const line of [...verdicts, ...faults]) say(line);
const slowest = scrapesMs.length === 0 ? 'not measured' : `${Math.max(...scrapesMs).toFixed(1)} ms`;
say(
  `${faults.length === 0 ? 'held' : 'BROKEN'}: ${chosen.length} faults, ${faults.length} violations; ${verdicts.join('; ')}; slowest scrape ${slowest} (limit ${scrapeMsMax} ms)`,
);
process.exit(faults.length === 0 ? 0 : 1);

async function scrape(world: Parameters<typeof measureScrapes>[0]): Promise<void> {
  await addActiveTenants(world, tenants);
  say(`scrapes with ${tenants} tenants, load average ${loadavg()[0]?.toFixed(1)}:`);
  for (const { name, wallMs, cpuMs, bytes } of await measureScrapes(world)) {
    say(`  ${name}: ${wallMs.toFixed(1)} ms, ${cpuMs.toFixed(1)} ms of CPU, ${bytes} bytes`);
    scrapesMs.push(wallMs);
    if (!(wallMs < scrapeMsMax)) faults.push(`a scrape of ${name} takes ${scrapeMsMax} ms or more`);
  }
}
