import { execFile } from 'node:child_process';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fenceBugs } from '../faults/injected-bugs/fence-bugs.ts';
import { certificateHash, protocols } from './fence/cutting-server.ts';
import { faultsOf } from './fence/judge-trial.ts';
import { namedTrials, type TrialName } from './fence/named-trials.ts';
import { acceptCertificate, launchTestBrowser, type TestBrowser } from './fence/test-browser.ts';
import { runTrial, runUnfenced, type Sender, type Trial } from './fence/trials.ts';

let browser: TestBrowser;
beforeAll(async () => {
  browser = await launchTestBrowser([acceptCertificate(certificateHash())]);
});
afterAll(() => browser.close());

async function expectToHold(trial: Trial): Promise<void> {
  expect(faultsOf(trial, await runTrial(browser, trial))).toEqual([]);
}

test.each(protocols)(
  'without the fence, the browser repeats a POST that is cut over %s',
  async (protocol) => {
    expect(await runUnfenced(browser, protocol)).toEqual(['POST /apply', 'POST /apply']);
  },
);

test.each(Object.entries(namedTrials))('the fence holds in the trial %s', async (_name, trial) => {
  await expectToHold(trial);
});

/**
 * The numbers of bytes after which the answer is cut. Without TLS, only the last number exceeds the
 * length of the answer.
 */
const answerCuts = [1, 40, 120, 160, 1_000];
/**
 * The numbers of bytes after which the request is cut. They count from the start of the
 * connection, so over TLS they include the handshake.
 */
const requestCuts = [0, 1, 200, 700, 2_000];

test.each(protocols)(
  'a submission that is cut anywhere arrives at most once over %s',
  async (protocol) => {
    for (const bytes of answerCuts) {
      await expectToHold({ protocol, sender: 'fetch', cut: { kind: 'answer', bytes } });
    }
    for (const bytes of requestCuts) {
      await expectToHold({ protocol, sender: 'form', cut: { kind: 'request', bytes } });
    }
  },
);

const otherSenders: readonly Sender[] = ['keepalive', 'beacons', 'worker'];

test.each(otherSenders)(
  'a page that sends by %s is answered once, and cut once',
  async (sender) => {
    await expectToHold({ protocol: 'http2-tls', sender, cut: { kind: 'none' } });
    await expectToHold({ protocol: 'http1-tls', sender, cut: { kind: 'answer', bytes: 0 } });
  },
);

const finders: Readonly<Record<string, TrialName>> = {
  'fence-submits-before-journal': 'broken-journal',
  'fence-without-gate': 'double-submit',
  'fence-without-seal': 'cut-http1-tls',
  'fence-retries': 'retrying-page',
  'fence-follows-307': 'repeating-redirect',
  'fence-believes-cut-answers': 'cut-body',
};

function printedWith(bug: string, trial: TrialName): Promise<string> {
  const preload = path.join(import.meta.dirname, '../faults/injected-bugs/bug-preload.ts');
  const main = path.join(import.meta.dirname, 'fence/main.ts');
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--import', preload, main, trial],
      { env: { ...process.env, FAULTS_BUG: bug } },
      (_error, stdout) => resolve(stdout),
    );
  });
}

test.each(fenceBugs.map(({ name }) => name))('the injected bug %s is found', async (bug) => {
  expect(await printedWith(bug, finders[bug] ?? 'cut-http1')).toMatch(/1 trials: [1-9] FAULTS/);
});
