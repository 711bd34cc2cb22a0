import { mkdir, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { waitUntil } from '@svc/testkit';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { JobFailed } from './executor.ts';
import { openJournal } from './journal.ts';
import { DirectoryInUse } from './lock.ts';
import {
  createAgentHome,
  scriptedExecutor,
  startScriptedService,
  type ScriptedService,
} from './scripted-service.fixture.ts';

const submissionId = 'sub_01kajh8z2wf5xav9c3q7m4n6rt';
const other = 'sub_01kajh8z2wf5xav9c3q7m4n6rv';
const offerId = 'ofr_01kajh8z2wf5xav9c3q7m4n6rt';

let service: ScriptedService;
let home: Awaited<ReturnType<typeof createAgentHome>>;
let scripted: ReturnType<typeof scriptedExecutor>;

beforeEach(async () => {
  service = await startScriptedService();
  home = await createAgentHome(service);
  scripted = scriptedExecutor();
});

async function assigned(id = submissionId): Promise<void> {
  service.offer(id, offerId);
  await service.next('accept');
  service.assign(id, offerId);
  await service.next('start');
}

async function begun(id = submissionId): Promise<void> {
  await assigned(id);
  service.send({ type: 'begin', submissionId: id });
  await waitUntil(() => scripted.calls.at(-1));
}

describe('a run', () => {
  test('is on disk before it begins, and its outcome is on disk before it is reported', async () => {
    await home.start(scripted.executor);
    const hello = await service.greet();
    expect(service.verification()).toBe('verified');
    expect(hello).toMatchObject({ jobTypes: ['ats.application'], slots: 2, running: [] });
    service.offer(submissionId, offerId);
    expect(await service.next('accept')).toEqual({ type: 'accept', offerId });
    const payloadText = '{"applicantProfile":{"n":12345678901234567890}}';
    service.assign(submissionId, offerId, payloadText);
    await service.next('start');
    expect(await home.entry(submissionId)).toMatchObject({ phase: 'assigned', payloadText });
    expect(scripted.calls).toHaveLength(0);
    service.send({ type: 'begin', submissionId });
    expect((await service.next('usage')).usage).toMatchObject({ actions: 1 });
    const job = { submissionId, payloadText, maxNodeSeconds: 300 };
    expect(scripted.calls[0]?.job).toEqual(job);
    const begunEntry = { phase: 'begun', submissionId, isFenced: false };
    expect(await home.entry(submissionId)).toEqual(begunEntry);
    scripted.calls[0]?.finish();
    expect(await service.next('completed')).toMatchObject({
      submissionId,
      result: { confirmationId: 'A-1' },
    });
    const kept = await home.entry(submissionId);
    expect(kept).toMatchObject({ phase: 'ended' });
    expect(JSON.stringify(kept)).not.toContain('applicantProfile');
    service.send({ type: 'ack', submissionId });
    await waitUntil(async () => (await home.entry(submissionId)) === undefined);
  });

  test('begins once, also if the service sends begin several times', async () => {
    await home.start(scripted.executor);
    await service.greet();
    await begun();
    service.send({ type: 'begin', submissionId });
    scripted.calls[0]?.finish();
    await service.next('completed');
    service.send({ type: 'begin', submissionId });
    service.send({ type: 'cancel', submissionId: other });
    await service.next('stopped');
    expect(scripted.calls).toHaveLength(1);
  });

  test('fails with the code of its executor, or as node_error without any details', async () => {
    await home.start(scripted.executor);
    await service.greet();
    await begun();
    scripted.calls[0]?.fail(new JobFailed('captcha', 'A captcha stands before the form.'));
    expect((await service.next('failed')).failure).toEqual({
      code: 'captcha',
      message: 'A captcha stands before the form.',
    });
    await assigned(other);
    service.send({ type: 'begin', submissionId: other });
    await waitUntil(() => scripted.calls.length === 2);
    scripted.calls[1]?.fail(new Error('secrets of the applicant'));
    const { failure } = await service.next('failed');
    expect(failure.code).toBe('node_error');
    expect(failure.message).not.toContain('secrets');
  });

  test('whose begin cannot be recorded is not run and fails at once', async () => {
    await home.start(scripted.executor);
    await service.greet();
    await assigned();
    // The begun file is a symbolic link to itself, so the agent cannot find out if the file exists.
    // The draft is a directory, so the agent cannot write the outcome.
    const file = path.join(home.stateDir, submissionId);
    await symlink(`${file}.begun`, `${file}.begun`);
    await mkdir(`${file}.json.draft`);
    service.send({ type: 'begin', submissionId });
    expect((await service.next('failed')).failure.code).toBe('node_error');
    expect(scripted.calls).toHaveLength(0);
  });

  test('that another process on the same disk has begun is not begun a second time', async () => {
    const first = await home.start(scripted.executor);
    await service.greet();
    await assigned();
    await first.stop();
    await home.start(scripted.executor);
    await service.greet();
    await service.next('start');
    // Without the lock file, a second process gets past the lock.
    await rm(path.join(home.stateDir, 'agent.lock'));
    const second = await openJournal(home.stateDir);
    onTestFinished(() => second.close());
    expect(await second.claimBegin(submissionId)).toBe('claimed');
    expect(await second.claimBegin(submissionId)).toBe('taken');
    service.send({ type: 'begin', submissionId });
    service.cut();
    expect((await service.greet()).running).toEqual([submissionId]);
    expect(scripted.calls).toHaveLength(0);
  });

  test('that is cancelled is stopped and forgotten', async () => {
    await home.start(scripted.executor);
    await service.greet();
    await begun();
    service.send({ type: 'cancel', submissionId });
    expect(await service.next('stopped')).toMatchObject({ submissionId, usage: { actions: 1 } });
    expect(await home.entry(submissionId)).toBeUndefined();
  });

  test('that completes although it should have stopped is reported', async () => {
    await home.start({
      ...scripted.executor,
      run: async (_payload, { signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return { confirmationId: 'too late' };
      },
    });
    await service.greet();
    await assigned();
    service.send({ type: 'begin', submissionId });
    await waitUntil(async () => (await home.entry(submissionId))?.['phase'] === 'begun');
    service.send({ type: 'cancel', submissionId });
    expect((await service.next('completed')).result).toEqual({ confirmationId: 'too late' });
  });

  test('whose offer was not accepted here fails before it begins', async () => {
    await home.start(scripted.executor);
    await service.greet();
    service.assign(submissionId, offerId);
    expect((await service.next('failed')).failure.code).toBe('node_error');
  });
});

describe('a fenced run', () => {
  let call: (typeof scripted.calls)[number];
  let stop: () => Promise<void>;

  beforeEach(async () => {
    ({ stop } = await home.start({ ...scripted.executor, isFenced: true }));
    await service.greet();
    await begun();
    const [first] = scripted.calls;
    if (first === undefined) throw new Error('the run has not begun');
    call = first;
  });

  async function failureAfterRestart(): Promise<unknown> {
    await stop();
    await home.start({ ...scripted.executor, isFenced: true });
    expect((await service.greet()).running).toEqual([submissionId]);
    return (await service.next('failed')).failure;
  }

  test('that fails before submitting is reported with submitted false', async () => {
    call.fail(new JobFailed('captcha', 'A captcha.'));
    expect((await service.next('failed')).failure).toEqual({
      code: 'captcha',
      message: 'A captcha.',
      submitted: false,
    });
  });

  test('that fails after submitting is reported without submitted', async () => {
    await call.submitting();
    expect(await home.entry(submissionId)).toEqual({ phase: 'submitting', submissionId });
    call.fail(new Error('cut'));
    const { failure } = await service.next('failed');
    expect(failure).not.toHaveProperty('submitted');
  });

  test('may submit once, and not after it was cancelled', async () => {
    await call.submitting();
    await expect(call.submitting()).rejects.toThrow('could not be recorded');
    await begun(other);
    service.send({ type: 'cancel', submissionId: other });
    await service.next('stopped');
    await expect(scripted.calls[1]?.submitting()).rejects.toThrow('aborted');
    expect(await home.entry(other)).toBeUndefined();
  });

  test('may not submit if the journal cannot be written', async () => {
    await mkdir(path.join(home.stateDir, `${submissionId}.begun.draft`));
    await expect(call.submitting()).rejects.toThrow('could not be recorded');
    call.fail(new Error('no disk'));
    expect((await service.next('failed')).failure).toMatchObject({ submitted: false });
  });

  test('that was begun before a restart is reported with submitted false', async () => {
    expect(await failureAfterRestart()).toMatchObject({ code: 'node_error', submitted: false });
  });

  test('that was submitting before a restart is reported without submitted', async () => {
    await call.submitting();
    const failure = await failureAfterRestart();
    expect(failure).toMatchObject({ code: 'node_error' });
    expect(failure).not.toHaveProperty('submitted');
  });

  test('may not submit when the agent has ended', async () => {
    await stop();
    await expect(call.submitting()).rejects.toThrow('aborted');
    expect(await home.entry(submissionId)).toMatchObject({ phase: 'begun' });
  });

  test('that completes without submitting is reported as node_error', async () => {
    call.finish();
    const { failure } = await service.next('failed');
    expect(failure.code).toBe('node_error');
    expect(failure).not.toHaveProperty('submitted');
  });

  test('that completes after submitting is reported as completed', async () => {
    await call.submitting();
    call.finish();
    expect((await service.next('completed')).result).toEqual({ confirmationId: 'A-1' });
  });
});

test('a failure that is not retriable is reported as such', async () => {
  await home.start(scripted.executor);
  await service.greet();
  await begun();
  scripted.calls[0]?.fail(new JobFailed('site_unreachable', 'Refused.', { retriable: false }));
  expect((await service.next('failed')).failure).toEqual({
    code: 'site_unreachable',
    message: 'Refused.',
    retriable: false,
  });
});

describe('after a crash', () => {
  test('an assignment that was not begun is asked for again, and begun once', async () => {
    const first = await home.start(scripted.executor);
    await service.greet();
    await assigned();
    await first.stop();
    await home.start(scripted.executor);
    expect((await service.greet()).running).toEqual([submissionId]);
    await service.next('start');
    service.send({ type: 'begin', submissionId });
    await waitUntil(() => scripted.calls.length === 1);
  });

  test('a begun run is never begun again, and is reported as node_error', async () => {
    const first = await home.start(scripted.executor);
    await service.greet();
    await begun();
    await first.stop();
    await home.start(scripted.executor);
    expect((await service.greet()).running).toEqual([submissionId]);
    expect((await service.next('failed')).failure.code).toBe('node_error');
    service.send({ type: 'begin', submissionId });
    service.send({ type: 'ack', submissionId });
    await waitUntil(async () => (await home.entry(submissionId)) === undefined);
    expect(scripted.calls).toHaveLength(1);
  });

  test('an unacknowledged outcome is reported again, even if the service asks to stop it', async () => {
    const first = await home.start(scripted.executor);
    await service.greet();
    await begun();
    scripted.calls[0]?.finish();
    await service.next('completed');
    await first.stop();
    await home.start(scripted.executor);
    await service.greet([submissionId]);
    expect((await service.next('completed')).result).toEqual({ confirmationId: 'A-1' });
  });

  test('the agent has a new instance id', async () => {
    const first = await home.start(scripted.executor);
    const { instanceId } = await service.greet();
    service.cut();
    expect((await service.greet()).instanceId).toBe(instanceId);
    await first.stop();
    await home.start(scripted.executor);
    const later = (await service.greet()).instanceId;
    expect(later).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(later).not.toBe(instanceId);
  });

  test('only one process at a time can use a directory', async () => {
    await home.start(scripted.executor);
    await expect(openJournal(home.stateDir)).rejects.toThrow(DirectoryInUse);
  });
});

describe('a link that breaks', () => {
  test('is opened again, and the run goes on', async () => {
    await home.start(scripted.executor);
    await service.greet();
    await begun();
    service.cut();
    expect((await service.greet()).running).toEqual([submissionId]);
    scripted.calls[0]?.finish();
    await service.next('completed');
    expect(scripted.calls).toHaveLength(1);
  });

  test('gives the last public address of each family that a welcome has named', async () => {
    await home.start(scripted.executor);
    const addresses = ['198.41.0.4', '2a0e:1::1', '45.83.1.2', '10.0.0.1', 'x', null];
    for (const address of addresses) {
      await service.greet([], address);
      service.close(1012);
    }
    await service.next('hello');
    expect(home.observed.list().toSorted()).toEqual(['2a0e:1::1', '45.83.1.2']);
  });

  test('stops the runs that the next welcome names in stop', async () => {
    await home.start(scripted.executor);
    await service.greet();
    await begun();
    service.close(1012);
    await service.greet([submissionId]);
    expect((await service.next('stopped')).submissionId).toBe(submissionId);
  });
});

describe('an offer is declined', () => {
  test('if the sandbox behaviour asks for it', async () => {
    await home.start();
    await service.greet();
    service.offer(submissionId, offerId, 'sandbox.decline');
    expect(await service.next('decline')).toEqual({ type: 'decline', offerId, reason: 'policy' });
    service.offer(submissionId, offerId, 'sandbox.slow');
    await service.next('accept');
  });

  test('if all slots are taken, also by accepted offers', async () => {
    await home.start(scripted.executor, 1);
    await service.greet();
    service.offer(submissionId, offerId);
    await service.next('accept');
    service.offer(other, 'ofr_2');
    expect((await service.next('decline')).reason).toBe('busy');
    service.send({ type: 'revoke', offerId });
    service.offer(other, 'ofr_2');
    await service.next('accept');
  });

  test('by a node that received drain, until its next link', async () => {
    await home.start(scripted.executor);
    await service.greet();
    await begun();
    service.send({ type: 'drain' });
    service.offer(other, 'ofr_2');
    expect((await service.next('decline')).reason).toBe('draining');
    scripted.calls[0]?.finish();
    await service.next('completed');
    service.close(1012);
    await service.greet();
    service.offer(other, 'ofr_2');
    await service.next('accept');
  });

  test('by a node that drains, whose drain ends when its outcomes are acknowledged', async () => {
    const { agent } = await home.start(scripted.executor);
    await service.greet();
    await begun();
    const ends: boolean[] = [];
    const drained = agent.drain(60_000).then((isIdle) => ends.push(isIdle));
    await service.next('drain');
    service.offer(other, 'ofr_2');
    expect((await service.next('decline')).reason).toBe('draining');
    scripted.calls[0]?.finish();
    await service.next('completed');
    expect(ends).toEqual([]);
    service.send({ type: 'ack', submissionId });
    await waitUntil(() => ends.length > 0);
    expect(ends).toEqual([true]);
    await drained;
  });
});

test('a drain ends after its timeout', async () => {
  const { agent } = await home.start(scripted.executor);
  await service.greet();
  await begun();
  expect(await agent.drain(1)).toBe(false);
});
