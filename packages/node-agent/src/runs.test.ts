import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { FrameFromNode } from '@svc/contracts';
import { waitUntil } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { openJournal, type Journal } from './journal.ts';
import { NodeRuns } from './runs.ts';

const submissionId = 'sub_01kajh8z2wf5xav9c3q7m4n6rt';

async function createRuns(change: (journal: Journal) => Partial<Journal> = () => ({})) {
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-runs-'));
  const journal = await openJournal(directory);
  const sent: FrameFromNode[] = [];
  const logged: string[] = [];
  const runs = new NodeRuns({
    journal: { ...journal, ...change(journal) },
    executors: [],
    send: (frame) => sent.push(frame),
    onChange: () => {},
    log: (level, text) => void logged.push(`${level}: ${text}`),
  });
  onTestFinished(async () => {
    await runs.close();
    await journal.close();
    await rm(directory, { recursive: true, force: true });
  });
  return { runs, sent, logged };
}

test('an order to stop an unknown submission is confirmed, and nothing else happens', async () => {
  const { runs, sent, logged } = await createRuns();
  runs.stop(submissionId);
  await waitUntil(() => sent.length > 0);
  await runs.close();
  expect(sent).toEqual([{ type: 'stopped', submissionId, usage: {} }]);
  expect(logged).toEqual([]);
});

test('an agent that ends waits until the outcome of what it cannot run is on disk', async () => {
  const writing = Promise.withResolvers<void>();
  const mayWrite = Promise.withResolvers<void>();
  const { runs, sent } = await createRuns((journal) => ({
    async write(entry) {
      if (entry.phase === 'ended') {
        writing.resolve();
        await mayWrite.promise;
      }
      await journal.write(entry);
    },
  }));
  runs.assign({ submissionId, jobType: 'unknown.type', payloadText: '{}', maxNodeSeconds: 300 });
  await waitUntil(() => sent.some(({ type }) => type === 'start'));
  runs.begin(submissionId);
  await writing.promise;
  let isClosed = false;
  const closed = runs.close().then(() => (isClosed = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(isClosed).toBe(false);
  mayWrite.resolve();
  await closed;
  expect(sent.at(-1)).toMatchObject({ type: 'failed', submissionId });
});
