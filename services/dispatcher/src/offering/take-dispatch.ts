import type { DispatchJob } from '@svc/contracts';
import type { Reply } from '@svc/queue';
import { traced } from '@svc/tracing';
import type { Dispatcher } from '../dispatcher.ts';
import { coordinate } from './coordinate.ts';
import { offerablesOf, type Offerable } from './offerable.ts';

/**
 * Handles one job of the queue `dispatch`: offers its submissions, and replies to the waiting
 * gateway about each one as soon as its result is known.
 */
export async function takeDispatch(dispatcher: Dispatcher, job: DispatchJob): Promise<void> {
  const { submissionIds, replyTo } = job;
  const startMs = dispatcher.tracing.nowMs();
  const submissions = await offerablesOf(dispatcher, job);
  const loaded = new Set(submissions.map(({ id }) => id));
  const settled = submissionIds.filter((id) => !loaded.has(id));
  await Promise.all([
    ...settled.map((id) => reply(dispatcher, replyTo, { submissionId: id, news: 'look' })),
    ...submissions.map((submission) => dispatchOne(dispatcher, submission, replyTo)),
  ]);
  dispatcher.tracing.recordBatch({
    name: 'process dispatch.v1 batch',
    kind: 'consumer',
    members: submissionIds.map((subjectId) => ({ step: 'dispatch', subjectId })),
    startMs,
  });
}

/**
 * Offers one submission to nodes, and replies to the gateway if the gateway waits. Logs a failure
 * and never throws, so the other submissions of the job go on.
 */
async function dispatchOne(
  dispatcher: Dispatcher,
  submission: Offerable,
  replyTo: string | null,
): Promise<void> {
  let result: Pick<Reply, 'news' | 'proof'> = { news: 'look' };
  try {
    result = await traced(
      dispatcher.tracing,
      { step: 'dispatch', subjectId: submission.id },
      () => coordinate(dispatcher, submission),
      ({ news }) => ({ 'svc.dispatch.result': news }),
    );
  } catch (error) {
    // If the submission is still pending one second after its deadline, the waiting gateway or the
    // reconciler rejects it.
    const { requestId } = submission.facts;
    dispatcher.logger.error({ err: error, requestId }, 'could not dispatch a submission');
  }
  await reply(dispatcher, replyTo, { submissionId: submission.id, ...result });
}

async function reply(dispatcher: Dispatcher, replyTo: string | null, about: Reply): Promise<void> {
  if (replyTo === null) return;
  try {
    await dispatcher.reply(replyTo, about);
  } catch (error) {
    // Without a reply, the waiting gateway reads Postgres within one second.
    dispatcher.logger.warn({ err: error }, 'could not reply to a gateway');
  }
}
