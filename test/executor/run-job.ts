import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { FrameFromNode, FrameFromNodeOf } from '@svc/contracts';
import type { Executor } from '../../packages/node-agent/src/executor.ts';
import { openJournal } from '../../packages/node-agent/src/journal.ts';
import { NodeRuns } from '../../packages/node-agent/src/runs.ts';

export type WireOutcome = FrameFromNodeOf<'completed'> | FrameFromNodeOf<'failed'>;

export interface Ran {
  readonly outcome: WireOutcome;
  readonly usages: readonly FrameFromNodeOf<'usage'>[];
}

const submissionId = 'sub_01kajh8z2wf5xav9c3q7m4n6rt';

/** The payload of `ats.application` as the service sends it. */
export function payloadTextOf(
  applicationUrl: string,
  atsType: string,
  applicantProfile: unknown,
): string {
  const jobContext = { title: 'Welder', company: 'Acme' };
  return JSON.stringify({ applicationUrl, atsType, applicantProfile, jobContext });
}

export async function withStateDir<T>(use: (stateDir: string) => Promise<T>): Promise<T> {
  const stateDir = await mkdtemp(path.join(tmpdir(), 'svc-executor-'));
  try {
    return await use(stateDir);
  } finally {
    await rm(stateDir, { recursive: true, force: true });
  }
}

/**
 * Runs one job as the agent runs it, with a journal on disk. Returns the outcome and the usage
 * frames that the agent sends to the service.
 */
export async function runJobInAgent(
  stateDir: string,
  executor: Executor,
  payloadText: string,
  maxNodeSeconds: number,
): Promise<Ran> {
  const journal = await openJournal(stateDir);
  const ended = Promise.withResolvers<WireOutcome>();
  const usages: FrameFromNodeOf<'usage'>[] = [];
  const send = (frame: FrameFromNode): void => {
    if (frame.type === 'start') runs.begin(frame.submissionId);
    if (frame.type === 'usage') usages.push(frame);
    if (frame.type === 'completed' || frame.type === 'failed') ended.resolve(frame);
  };
  const runs = new NodeRuns({
    journal,
    executors: [executor],
    send,
    onChange: () => {},
    log: () => {},
  });
  runs.assign({ submissionId, jobType: executor.jobType, payloadText, maxNodeSeconds });
  try {
    return { outcome: await ended.promise, usages };
  } finally {
    await runs.close();
    await journal.close();
  }
}
