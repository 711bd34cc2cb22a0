import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { foreignFramesWindowMs } from '@svc/domain';
import { waitUntil } from '@svc/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { noHistory, openHistory } from './history.ts';
import { createRecovery } from './recovery.ts';
import {
  createAgentHome,
  nodeId,
  scriptedExecutor,
  startScriptedService,
} from './scripted-service.fixture.ts';

const ended = 'sub_01kajh8z2wf5xav9c3q7m4n6rt';
const inHand = 'sub_01kajh8z2wf5xav9c3q7m4n6rv';

type Service = Awaited<ReturnType<typeof startScriptedService>>;

const reportOf = (submissionId: string) => ({
  type: 'report',
  submissionId,
  receipt: `receipt of ${submissionId}`,
  begun: true,
});

async function begin(service: Service, submissionId: string): Promise<void> {
  service.offer(submissionId, `ofr_${submissionId}`);
  await service.next('accept');
  service.assign(submissionId, `ofr_${submissionId}`);
  await service.next('start');
  service.send({ type: 'begin', submissionId });
}

test('after a restore a node reports what it did, and sends nothing else before it is recorded', async () => {
  const service = await startScriptedService();
  const home = await createAgentHome(service);
  const { executor, calls } = scriptedExecutor();
  const first = await home.start(executor);
  await service.greet();
  await begin(service, ended);
  await waitUntil(() => calls.length === 1);
  calls[0]?.finish();
  const outcome = await service.next('completed');
  service.send({ type: 'ack', submissionId: ended });
  await waitUntil(async () => (await home.entry(ended)) === undefined);
  // A restart keeps the history.
  await first.stop();
  await home.start(executor);
  await service.greet();
  await begin(service, inHand);
  await waitUntil(() => calls.length === 2);
  await service.next('usage');

  service.cut();
  await service.greetInRecovery();
  service.frames.length = 0;
  const reports = [await service.next('report'), await service.next('report')];
  expect(reports).toEqual([reportOf(inHand), reportOf(ended)]);
  calls[1]?.finish();
  await waitUntil(async () => (await home.entry(inHand))?.['phase'] === 'ended');
  expect(service.frames).toEqual([]);

  service.send({ type: 'recorded', submissionId: inHand, present: true });
  expect(await service.next('completed')).toMatchObject({ submissionId: inHand });
  service.send({ type: 'recorded', submissionId: ended, present: false });
  service.send({ type: 'recorded', submissionId: ended, present: true });
  expect(await service.next('completed')).toEqual(outcome);
  expect(service.frames.filter(({ type }) => type === 'reported')).toEqual([]);
  for (const submissionId of [ended, inHand]) service.send({ type: 'ack', submissionId });
  await service.next('reported');
});

test('a node without a history reports at once that it has reported all', async () => {
  const service = await startScriptedService();
  const home = await createAgentHome(service);
  await home.start();
  await service.greetInRecovery();
  expect(await service.next('reported')).toEqual({ type: 'reported' });
});

test('a history keeps the entries of the last 7 days, and passes over a line that a crash cut', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-history-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const dayMs = 24 * 3_600_000;
  let nowMs = 0;
  const open = () => openHistory(directory, () => nowMs);
  const history = await open();
  await history.assigned(ended, 'old');
  nowMs = 6 * dayMs;
  await history.assigned(inHand, 'new');
  await history.close();
  await appendFile(path.join(directory, 'history.jsonl'), '{"submissionId":"sub_cut","rec');
  const again = await open();
  expect(again.entries().map(({ receipt }) => receipt)).toEqual(['old', 'new']);
  await again.close();
  nowMs = 8 * dayMs;
  const later = await open();
  expect(later.entries()).toEqual([{ submissionId: inHand, receipt: 'new', atMs: 6 * dayMs }]);
  await later.close();
});

async function withHistory(length: number) {
  const service = await startScriptedService();
  const home = await createAgentHome(service);
  const lines = Array.from({ length }, (_, n) =>
    JSON.stringify({ submissionId: `sub_${n}`, receipt: 'r', atMs: Date.now() }),
  );
  await writeFile(path.join(home.stateDir, 'history.jsonl'), lines.join('\n'));
  await home.start();
  await service.greetInRecovery();
  return service;
}

test('a long history is reported within the frame rate of the link', async () => {
  const service = await withHistory(5_000);
  const answer = async () => {
    const { submissionId } = await service.next('report');
    service.send({ type: 'recorded', submissionId, present: false });
  };
  await answer();
  const beganMs = performance.now();
  for (let count = 1; count < 500; count += 1) await answer();
  // A faster node could exceed the frames that a link allows.
  expect(performance.now() - beganMs).toBeGreaterThan(1_000);
});

test('a node whose receipts are refused sends fewer reports than close the link', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const entries = Array.from({ length: 300 }, (_, n) => ({
    submissionId: `sub_${n}`,
    receipt: 'r',
    atMs: 0,
  }));
  const reported: string[] = [];
  const recovery = createRecovery({
    history: {
      ...noHistory,
      entries: () => entries,
      entry: (id) => entries.find(({ submissionId }) => submissionId === id),
    },
    phaseOf: () => undefined,
    resume: () => {},
    send: (frame) => {
      if (frame.type === 'report') reported.push(frame.submissionId);
    },
  });
  recovery.begin();
  const refuseFor = (ms: number) => {
    for (let tick = 0; tick < ms / 100; tick += 1) {
      for (const submissionId of reported.splice(0))
        recovery.recorded({ type: 'recorded', submissionId, present: false, refused: true });
      vi.advanceTimersByTime(100);
      sent += reported.length;
    }
  };
  let sent = reported.length;
  refuseFor(foreignFramesWindowMs - 1_000);
  expect(sent).toBe(90);
  refuseFor(foreignFramesWindowMs - 1_000);
  expect(sent).toBe(180);
  recovery.end();
});

test('a node ends its reports although all receipts are refused, and sends nothing about them', async () => {
  const service = await withHistory(3);
  const refuse = async () => {
    const { submissionId } = await service.next('report');
    service.send({ type: 'recorded', submissionId, present: false, refused: true });
  };
  for (let count = 0; count < 3; count += 1) await refuse();
  await service.next('reported');
  expect(service.frames).toEqual([]);
});

test('an outcome is sent only after the welcome, and in a recovery only after its report', async () => {
  const service = await startScriptedService();
  const home = await createAgentHome(service);
  const { executor, calls } = scriptedExecutor();
  await home.start(executor);
  await service.greet();
  await begin(service, inHand);
  await waitUntil(() => calls.length === 1);
  await service.next('usage');
  service.cut();
  await service.next('hello');
  service.frames.length = 0;
  calls[0]?.finish();
  await waitUntil(async () => (await home.entry(inHand))?.['phase'] === 'ended');
  const recovery = { incarnation: 2 };
  expect(service.frames).toEqual([]);
  service.send({ type: 'welcome', nodeId, heartbeatSeconds: 5, stop: [], recovery });
  await service.next('report');
  expect(service.frames.map(({ type }) => type)).not.toContain('completed');
  service.send({ type: 'recorded', submissionId: inHand, present: true });
  await service.next('completed');
  expect(service.frames.map(({ type }) => type)).not.toContain('reported');
  service.send({ type: 'ack', submissionId: inHand });
  await service.next('reported');
});
