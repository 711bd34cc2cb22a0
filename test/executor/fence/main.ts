import { parseArgs } from 'node:util';
import { certificateHash, protocols } from './cutting-server.ts';
import { faultsOf } from './judge-trial.ts';
import { namedTrials } from './named-trials.ts';
import { acceptCertificate, launchTestBrowser } from './test-browser.ts';
import { runTrial, type Sender, senders, type Trial, type TrialEnd } from './trials.ts';

/**
 * `pnpm executor:fence [--every N] [NAME…]`: runs the named trials. Without a name, runs each of
 * `senders` with each protocol, and the trials of `sweep`.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { every: { type: 'string', default: '1' } },
});
const every = Number(values.every);
/**
 * `sweep` cuts a request after 0 bytes, then after more and more, up to this many. With TLS, the
 * bytes of the handshake count too.
 */
const requestBytesMax = 3_000;
/** The number of bytes between two cuts of a request is this step times `--every`. */
const requestStepBytes = 37;
const answerBytesMax = 5_000;

const browser = await launchTestBrowser([acceptCertificate(certificateHash())]);
let count = 0;
let faultCount = 0;

async function run(trial: Trial): Promise<TrialEnd> {
  const end = await runTrial(browser, trial);
  count += 1;
  for (const fault of faultsOf(trial, end)) {
    faultCount += 1;
    process.stdout.write(`${JSON.stringify(trial)}: ${fault}\n`);
  }
  return end;
}

/**
 * Cuts the answer at every Nth byte, and the request at every Nth multiple of `requestStepBytes`.
 * N is `--every`.
 */
async function sweep(protocol: Trial['protocol'], sender: Sender): Promise<void> {
  for (let bytes = 0; bytes < answerBytesMax; bytes += every) {
    const { isCut } = await run({ protocol, sender, cut: { kind: 'answer', bytes } });
    if (!isCut) break;
  }
  for (let bytes = 0; bytes < requestBytesMax; bytes += requestStepBytes * every) {
    const { isCut } = await run({ protocol, sender, cut: { kind: 'request', bytes } });
    if (!isCut) break;
  }
}

async function runAll(): Promise<void> {
  for (const protocol of protocols) {
    for (const sender of Object.keys(senders).filter((one): one is Sender => one in senders)) {
      await run({ protocol, sender, cut: { kind: 'none' } });
      await run({ protocol, sender, cut: { kind: 'answer', bytes: 0 } });
    }
    await sweep(protocol, 'form');
    await sweep(protocol, 'fetch');
  }
}

const named = Object.entries(namedTrials).filter(([name]) => positionals.includes(name));
if (named.length !== positionals.length)
  throw new Error('a trial name is unknown or repeated: see test/executor/fence/named-trials.ts');
for (const [, trial] of named) await run(trial);
if (named.length === 0) await runAll();
await browser.close();
const verdict = faultCount === 0 ? 'no fault' : `${faultCount} FAULTS`;
process.stdout.write(`${count} trials: ${verdict}\n`);
process.exitCode = faultCount === 0 ? 0 : 1;
