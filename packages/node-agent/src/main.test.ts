import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromiumBinary, nodeAgentEntry } from '@svc/local';
import { bareEnvironment, entryUnderTest } from '@svc/testkit';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  nodeId,
  secret,
  startScriptedService,
  type ScriptedService,
} from './scripted-service.fixture.ts';

const submissionId = 'sub_01kajh8z2wf5xav9c3q7m4n6rt';
const offerId = 'ofr_01kajh8z2wf5xav9c3q7m4n6rt';

let service: ScriptedService;
let stateDir: string;

beforeEach(async () => {
  service = await startScriptedService();
  stateDir = mkdtempSync(path.join(tmpdir(), 'svc-node-main-'));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
});

function svcNode(args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(process.execPath, [entryUnderTest(nodeAgentEntry), ...args], {
    env: { ...bareEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout?.resume();
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  return child;
}

function environment(): NodeJS.ProcessEnv {
  return {
    SVC_NODE_LINK: service.link,
    SVC_NODE_ID: nodeId,
    SVC_NODE_SECRET: secret,
    SVC_NODE_SLOTS: '3',
    SVC_NODE_STATE_DIR: stateDir,
  };
}

async function begun(atsType: string): Promise<void> {
  service.offer(submissionId, offerId);
  await service.next('accept');
  service.assign(submissionId, offerId, JSON.stringify({ atsType }));
  await service.next('start');
  service.send({ type: 'begin', submissionId });
  await service.next('usage');
}

async function assigned(id: string, applicationUrl: string): Promise<void> {
  service.offer(id, offerId);
  await service.next('accept');
  service.assign(id, offerId, JSON.stringify({ atsType: 'x', applicationUrl }));
  await service.next('start');
  service.send({ type: 'begin', submissionId: id });
}

function pathWithout(start: string): string {
  const hasProgram = (directory: string): boolean =>
    existsSync(directory) && readdirSync(directory).some((name) => name.startsWith(start));
  const directories = (process.env['PATH'] ?? '').split(path.delimiter);
  return directories.filter((one) => !hasProgram(one)).join(path.delimiter);
}

async function outputOf(child: ChildProcess): Promise<{ code: unknown; text: string }> {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  }
  const [code]: unknown[] = await once(child, 'close');
  return { code, text };
}

describe('svc-node', () => {
  test('reads its options from the environment, and finishes its runs after SIGTERM', async () => {
    const child = svcNode([], environment());
    expect(await service.greet()).toMatchObject({ slots: 3, running: [] });
    expect(service.verification()).toBe('verified');
    await begun('sandbox.succeed');
    child.kill('SIGTERM');
    await service.next('drain');
    expect(await service.next('completed')).toMatchObject({ submissionId });
    expect(child.exitCode).toBeNull();
    const exited = once(child, 'exit');
    service.send({ type: 'ack', submissionId });
    expect(await exited).toEqual([0, null]);
  });

  test('prefers flags over the environment', async () => {
    const args = ['--link', service.link, '--id', nodeId, '--secret', secret, '--slots', '2'];
    svcNode(args, { ...environment(), SVC_NODE_LINK: 'ws://127.0.0.1:1', SVC_NODE_SECRET: 'x' });
    expect(await service.greet()).toMatchObject({ slots: 2 });
    expect(service.verification()).toBe('verified');
  });

  test('refuses a plain link to another machine, unless --insecure is given', async () => {
    // 0.0.0.0 reaches this machine too, but it is not a loopback address.
    const link = service.link.replace('127.0.0.1', '0.0.0.0');
    const refused = svcNode(['--link', link], environment());
    const output: Buffer[] = [];
    refused.stderr?.on('data', (chunk: Buffer) => output.push(chunk));
    expect(await once(refused, 'close')).toEqual([2, null]);
    expect(Buffer.concat(output).toString()).toContain('wss://');
    svcNode(['--link', link, '--insecure'], environment());
    expect(await service.greet()).toMatchObject({ slots: 3 });
  });

  test('names its executors in hello', async () => {
    svcNode([], environment());
    expect(await service.greet()).toMatchObject({
      executors: [{ jobType: 'ats.application', name: 'simulated', version: '1' }],
    });
  });

  test('killed with a job begun, reports that it failed, and never begins it again', async () => {
    const killed = svcNode([], environment());
    await service.greet();
    await begun('sandbox.slow');
    const exited = once(killed, 'exit');
    killed.kill('SIGKILL');
    await exited;
    svcNode([], environment());
    expect(await service.greet()).toMatchObject({ running: [submissionId] });
    expect((await service.next('failed')).failure.code).toBe('node_error');
    service.send({ type: 'begin', submissionId });
    service.send({ type: 'ack', submissionId });
    await expect.poll(() => readdirSync(stateDir).join()).not.toContain(submissionId);
    service.cut();
    // The agent did not begin the submission again, and `hello` no longer names it.
    expect(await service.greet()).toMatchObject({ running: [] });
  });

  test('killed with an unacknowledged outcome, reports it again', async () => {
    const killed = svcNode([], environment());
    await service.greet();
    await begun('sandbox.fail');
    const first = await service.next('failed');
    const exited = once(killed, 'exit');
    killed.kill('SIGKILL');
    await exited;
    svcNode([], environment());
    expect(await service.greet()).toMatchObject({ running: [submissionId] });
    expect(await service.next('failed')).toEqual(first);
  });

  test('says that its state directory cannot be written, and exits', async () => {
    const file = path.join(stateDir, 'file');
    writeFileSync(file, '');
    for (const directory of [file, path.join(file, 'state')]) {
      const env = { ...environment(), SVC_NODE_STATE_DIR: directory };
      const { code, text } = await outputOf(svcNode([], env));
      expect(code).toBe(2);
      expect(text).toContain(`svc-node: ${directory} cannot be written.`);
    }
  });

  test('declines submissions for other hosts than those of --only-host', async () => {
    svcNode(['--only-host', 'one.example'], environment());
    await service.greet();
    service.offer(submissionId, offerId);
    expect(await service.next('decline')).toMatchObject({ reason: 'policy' });
  });

  test('fails an assignment whose URL has another host than its offer and --only-host', async () => {
    // The host of the offers of the scripted service.
    svcNode(['--only-host', 'jobs.example.com'], environment());
    await service.greet();
    await assigned(submissionId, 'https://elsewhere.example/jobs.example.com');
    const { failure } = await service.next('failed');
    expect(failure).toMatchObject({ code: 'site_unreachable', retriable: false });
    // Another submission: the node may not have forgotten the first one yet.
    const other = submissionId.replace(/.$/u, (last) => (last === '0' ? '1' : '0'));
    await assigned(other, 'https://JOBS.example.com:8443/1');
    expect(await service.next('completed')).toMatchObject({ submissionId: other });
  });

  test('names a missing option, and exits', async () => {
    const { SVC_NODE_SECRET: _, ...incomplete } = environment();
    const { code, text } = await outputOf(svcNode([], incomplete));
    expect(code).toBe(2);
    expect(text).toContain('--secret');
  });

  test.each([
    ['--link', { SVC_NODE_LINK: 'wss://host:99999' }, []],
    ['--link', { SVC_NODE_LINK: 'https://nodes.example.com' }, []],
    ['--slots', {}, ['--slots', 'many']],
    ['--colour', {}, ['--colour']],
    ['--link', { SVC_NODE_LINK: '%zz' }, ['doctor']],
  ])('names the wrong option %s in one line, and exits with 2', async (option, env, args) => {
    const { code, text } = await outputOf(svcNode(args, { ...environment(), ...env }));
    expect({ code, lines: text.trim().split('\n').length }).toEqual({ code: 2, lines: 1 });
    expect(text).toContain(option);
  });
});

describe('svc-node with a browser', () => {
  /** The tests may run as root, and the browser has no sandbox for root. */
  const asRoot = ['--executor', 'browser', '--no-browser-sandbox'];

  test('says hello after its browser has started, and names its options for sandboxes', async () => {
    const map = 'jobs.example.com:80=127.0.0.1:8080';
    const args = ['--browser', await chromiumBinary(), '--map-host', map];
    const child = svcNode([...asRoot, ...args], environment());
    let log = '';
    child.stdout?.on('data', (chunk: Buffer) => (log += chunk.toString()));
    expect(await service.next('hello')).toMatchObject({
      executors: [{ jobType: 'ats.application', name: 'browser' }],
      sandboxOnly: true,
    });
    expect(log).toContain('"event":"node.browser_started"');
    expect(readdirSync(path.join(stateDir, 'b'))).toEqual([]);
  });

  test('applies only at the hosts of --only-host', async () => {
    const args = ['--browser', await chromiumBinary(), '--only-host', 'one.example'];
    svcNode([...asRoot, ...args], environment());
    expect(await service.greet()).not.toHaveProperty('sandboxOnly');
    service.offer(submissionId, offerId);
    expect(await service.next('decline')).toMatchObject({ reason: 'policy' });
  });

  test('deletes what an earlier browser left', async () => {
    const left = path.join(stateDir, 'b', '0a1b2c3d');
    mkdirSync(left, { recursive: true });
    writeFileSync(path.join(left, 'cookies'), 'canary');
    svcNode([...asRoot, '--browser', await chromiumBinary()], environment());
    await service.greet();
    expect(existsSync(left)).toBe(false);
  });

  test('ends without a hello if the machine has no browser', async () => {
    const child = svcNode(asRoot, { ...environment(), PATH: pathWithout('chrom') });
    const { code, text } = await outputOf(child);
    expect(code).toBe(1);
    expect(text).toContain('svc-node found no Chromium or Chrome. Install one (');
    expect(service.frames).toEqual([]);
  });

  test('ends without a hello if its browser does not start', async () => {
    const child = svcNode([...asRoot, '--browser', '/bin/false'], environment());
    const { code, text } = await outputOf(child);
    expect(code).toBe(1);
    expect(text).toContain('/bin/false does not start.');
    expect(service.frames).toEqual([]);
  });

  test.runIf(process.getuid?.() === 0)('does not run as root by default', async () => {
    const args = ['--executor', 'browser', '--browser', await chromiumBinary()];
    const { code, text } = await outputOf(svcNode(args, environment()));
    expect(code).toBe(1);
    expect(text).toContain('svc-node does not run a browser as root.');
  });

  test('is the default for a link with TLS', async () => {
    const link = service.link.replace('ws:', 'wss:');
    const env = { ...environment(), SVC_NODE_LINK: link, PATH: pathWithout('chrom') };
    const { text } = await outputOf(svcNode(['--no-browser-sandbox'], env));
    expect(text).toContain('svc-node found no Chromium or Chrome.');
  });

  test.each([
    ['--map-host', 'name=127.0.0.1:1', 'NAME:PORT=ADDRESS:PORT'],
    ['--map-host', 'name:80=other.name:1', 'NAME:PORT=ADDRESS:PORT'],
    ['--executor', 'other', 'Allowed choices are browser, simulated.'],
    ['--only-host', 'a b', 'It must be a host name without a scheme, port or path.'],
  ])('refuses %s %s', async (flag, value, reason) => {
    const { code, text } = await outputOf(svcNode([flag, value], environment()));
    expect(code).toBe(2);
    expect(text).toContain(reason);
  });
});

describe('svc-node doctor', () => {
  test('prints a line for each check, and exits with 1 if one fails', async () => {
    const args = ['doctor', '--executor', 'browser', '--no-browser-sandbox'];
    const env = { ...environment(), SVC_NODE_LINK: 'ws://127.0.0.1:1', PATH: pathWithout('chrom') };
    const { code, text } = await outputOf(svcNode(args, env));
    expect(code).toBe(1);
    const lines = text.trimEnd().split('\n');
    expect(lines.map((line) => line.split(/\s+/, 2).join(' '))).toEqual([
      'FAIL link',
      'FAIL secret',
      'FAIL clock',
      'FAIL browser',
      'FAIL sandbox',
      'ok disk',
      'FAIL egress',
    ]);
  });
});
