import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bareEnvironment } from '@svc/testkit';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  nodeId,
  secret,
  startScriptedService,
  type ScriptedService,
} from './scripted-service.fixture.ts';

const submissionId = 'sub_01kajh8z2wf5xav9c3q7m4n6rt';
const offerId = 'ofr_01kajh8z2wf5xav9c3q7m4n6rt';
const entry = path.join(import.meta.dirname, 'main.ts');

let service: ScriptedService;
let stateDir: string;

beforeEach(async () => {
  service = await startScriptedService();
  stateDir = mkdtempSync(path.join(tmpdir(), 'svc-node-main-'));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
});

/** Runs `svc-node` as a node owner does. */
function svcNode(args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(process.execPath, [entry, ...args], {
    env: { ...bareEnvironment(), ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
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
    expect(await once(refused, 'close')).toEqual([1, null]);
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
    service.cut();
    // The submission was neither begun again nor kept.
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

  test('names a missing option, and exits', async () => {
    const { SVC_NODE_SECRET: _, ...incomplete } = environment();
    const child = svcNode([], incomplete);
    let output = '';
    child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const [code] = await once(child, 'exit');
    expect(code).toBe(1);
    expect(output).toContain('--secret');
  });
});
