import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bareEnvironment } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';

const contenderFile = path.join(import.meta.dirname, 'lock-contender.fixture.ts');
const rounds = 10;
const contendersAtOnce = 3;

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-node-lock-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

async function answer(child: ChildProcess): Promise<unknown> {
  const [message]: unknown[] = await once(child, 'message');
  return message;
}

async function startContender(
  env: NodeJS.ProcessEnv = {},
  execArgv: readonly string[] = [],
): Promise<ChildProcess> {
  const options = { env: { ...bareEnvironment(), ...env }, execArgv: [...execArgv] };
  const child = fork(contenderFile, options);
  onTestFinished(() => kill(child));
  await answer(child);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

async function open(child: ChildProcess, directory: string): Promise<unknown> {
  const answered = answer(child);
  child.send(directory);
  return await answered;
}

test(
  'exactly one of several agents that start together after a kill -9 opens the directory',
  { timeout: 120_000 },
  async () => {
    const directory = await newDirectory();
    const counts: number[] = [];
    let all = await Promise.all(Array.from({ length: contendersAtOnce }, () => startContender()));
    for (let round = 0; round < rounds; round += 1) {
      const answers = await Promise.all(all.map((contender) => open(contender, directory)));
      const owners = all.filter((_, index) => answers[index] === 'locked');
      counts.push(owners.length);
      // Kills the process that has the lock. The refused processes try again, together with a new
      // one.
      await Promise.all(owners.map(kill));
      const newcomers = await Promise.all(owners.map(() => startContender()));
      all = [...all.filter((one) => !owners.includes(one)), ...newcomers];
    }
    expect(counts).toEqual(Array.from({ length: rounds }, () => 1));
  },
);

test('the lock also stops an agent with another temporary directory', async () => {
  const directory = await newDirectory();
  const first = await startContender();
  const second = await startContender({ TMPDIR: await newDirectory() });
  expect(await open(first, directory)).toBe('locked');
  expect(await open(second, directory)).toBe('in use');
});

test('an agent keeps the lock although nothing refers to its journal any more', async () => {
  const directory = await newDirectory();
  const first = await startContender({}, ['--expose-gc']);
  const second = await startContender();
  expect(await open(first, directory)).toBe('locked');
  const answered = answer(first);
  first.send('collect garbage');
  expect(await answered).toBe('collected');
  expect(await open(second, directory)).toBe('in use');
});
