import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { checkoutDir, compileCache } from './paths.ts';
import { isPidAlive } from './pid.fixture.ts';
import { isPortFree } from './ports.ts';
import { readStackFile, type StackFile } from './stack-file.ts';
import { svc } from './svc-command.ts';

interface Launcher {
  readonly child: ChildProcess;
  readonly output: () => string;
}

const startBoundMs = 120_000;
const leftBound = { timeout: 10_000, interval: 50 };
vi.setConfig({ testTimeout: 2 * startBoundMs });
let dir: string;
const launchers: Launcher[] = [];

beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'svc-launcher-'));
});
afterEach(async () => {
  for (const { child } of launchers.splice(0)) await end(child, 'SIGKILL');
  await vi.waitUntil(() => processesLeft().length === 0, leftBound);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function start(env: Record<string, string> = {}): Launcher {
  const child = spawn(process.execPath, ['infra/local/src/main.ts'], {
    cwd: checkoutDir,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      SVC_LOCAL_DIR: dir,
      ...compileCache,
      GATEWAY_PORT: '0',
      NODE_LINK_PORT: '0',
      ...env,
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  const launcher = { child, output: () => output };
  launchers.push(launcher);
  return launcher;
}

async function untilUp({ child, output }: Launcher): Promise<StackFile> {
  const isUp = () => output().includes('Ctrl-C ends everything') || child.exitCode !== null;
  await expect.poll(isUp, { timeout: startBoundMs, message: output() }).toBe(true);
  const stack = readStackFile(dir);
  if (stack === undefined) throw new Error(`no stack runs:\n${output()}`);
  return stack;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

function processesLeft(): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids
    .filter((pid) => Number(pid) !== process.pid && isPidAlive(Number(pid)))
    .map((pid) => `${readProc(pid, 'cmdline')} ${readProc(pid, 'environ')}`)
    .filter((text) => text.includes(dir));
}

function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

it('shows a submission from quote to its arrival at an employer and its verified webhook, and a purchase, and leaves nothing behind when killed', async () => {
  const launcher = start({ SOLANA_DEMO: '1' });
  await untilUp(launcher);
  const shown = launcher.output();
  expect(shown).toMatch(/quote: about \d+\S* credits, at most 200/);
  expect(shown).toMatch(/hold: 200 credits; 9800 left to spend/);
  expect(shown).toMatch(/accepted by nod_\w{26}/);
  expect(shown).toMatch(/submitted: nodeSeconds/);
  expect(shown).toMatch(/charged \d+\S* credits, returned \d+/);
  expect(shown).toContain('submission.completed');
  expect(shown).toContain('signature verified');
  expect(shown).toContain('application EE-0001 has arrived: 10 answers, ada-lovelace.txt');
  const [, employerUrl = ''] = /Demo employer +(\S+)/.exec(shown) ?? [];
  const page = await (await fetch(employerUrl)).text();
  expect(page).toContain('Ada Lovelace');
  expect(page).toContain('1 request has sent a form');
  const nodes = await svc(['node', 'list'], { PATH: process.env['PATH'], SVC_LOCAL_DIR: dir });
  expect(JSON.stringify(nodes).match(/"linked":true/g)).toHaveLength(2);
  expect(shown).toMatch(/the intent is still pending[^]*confirmed after/);
  expect(shown).toContain('credits.purchased, signature verified');
  await end(launcher.child, 'SIGKILL');
  await expect.poll(processesLeft, leftBound).toStrictEqual([]);
});

it('keeps its secrets from other users of the machine', () => {
  for (const file of ['master-key', 'demo.json', 'postgres.password', 'redis/redis.conf']) {
    expect(statSync(path.join(dir, file)).mode & 0o077).toBe(0);
  }
});

it('starts again after it was killed, without a browser, is found by the admin CLI, refuses a second launcher, and leaves nothing behind after Ctrl-C', async () => {
  const bin = mkdtempSync(path.join(tmpdir(), 'svc-launcher-bin-'));
  onTestFinished(() => rmSync(bin, { recursive: true }));
  writeFileSync(path.join(bin, 'chromium-headless-shell'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const first = start({ PATH: `${bin}:${process.env['PATH']}` });
  const stack = await untilUp(first);
  // The demo is simulated if the browser does not start.
  expect(first.output()).toContain('The browser node did not start.');
  expect(first.output()).toContain('submission.completed');
  // This start uses the tenant that the first test has created.
  expect(first.output()).not.toContain('created');
  const env = { PATH: process.env['PATH'], SVC_LOCAL_DIR: dir };
  expect(await svc(['status'], env)).toMatchObject({ environment: 'sandbox', redis: 'reachable' });
  const second = start();
  await once(second.child, 'exit');
  expect(second.child.exitCode).toBe(1);
  expect(second.output()).toContain(`The stack is already running at ${stack.gatewayUrl}`);
  await end(first.child, 'SIGINT');
  expect(first.child.exitCode).toBe(0);
  expect(processesLeft()).toStrictEqual([]);
  expect(readStackFile(dir)).toBeUndefined();
  const ports = [portOf(stack.gatewayUrl), portOf(stack.nodeLinkUrl)];
  expect(await Promise.all(ports.map(isPortFree))).toStrictEqual([true, true]);
});

it('starts if webhooks to this machine are forbidden, and polls the events of its demo', async () => {
  const launcher = start({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: '0' });
  await untilUp(launcher);
  const shown = launcher.output();
  expect(shown).toMatch(/submission\.completed, delivery \w+/);
  expect(shown).toContain('read with a signed request');
  expect(shown).toMatch(/Events of the demo tenant +GET \/v1\/webhook-endpoints\/whe_\w+\/events/);
  await end(launcher.child, 'SIGINT');
  expect(launcher.child.exitCode).toBe(0);
});

it('names a port that is taken, and says what to do', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' ? `${address?.port}` : '';
  const launcher = start({ GATEWAY_PORT: port });
  await once(launcher.child, 'exit');
  expect(launcher.child.exitCode).toBe(1);
  expect(launcher.output()).toContain(`The stack cannot listen on port ${port} of 127.0.0.1.`);
  expect(launcher.output()).toContain('GATEWAY_PORT=');
  other.close();
});

it('refuses production, because its nodes are simulated', async () => {
  const launcher = start({ SVC_ENVIRONMENT: 'production' });
  await once(launcher.child, 'exit');
  expect(launcher.child.exitCode).toBe(1);
  expect(launcher.output()).toContain('SVC_ENVIRONMENT is production');
  expect(launcher.output()).toContain('docs/OPERATIONS.md');
});

it('names the valid values of an invalid variable', async () => {
  const launcher = start({ SVC_SIMULATED_NODES: 'many' });
  await once(launcher.child, 'exit');
  expect(launcher.output()).toContain('SVC_SIMULATED_NODES is many.');
  expect(launcher.output()).toContain('a whole number from 0 to 64');
});
