import type { FrameFromNodeOf, JobResult, ReportedUsage } from '@svc/contracts';
import { fromWireId, parseUsage, toWireId, usageUnits, type Usage } from '@svc/domain';
import { announceDeliveries, enqueueSettlements } from '@svc/queue';
import { failpoint } from '@svc/runtime';
import {
  commitRunning,
  recordUsage,
  recoveryInForce,
  stateAtNode,
  storeOutcome,
  type NodeOutcome,
} from '@svc/store';
import { traced } from '@svc/tracing';
import { inBackground, type Dispatcher } from '../dispatcher.ts';
import { followNode } from '../fleet/follow-nodes.ts';
import { freeSlot, freeSlotLater, takeSlot } from '../fleet/slots.ts';
import { hasEnded, sendFrame, type NodeLink } from '../links/links.ts';

/** The result of a frame about a submission (CONTRACT 7). */
export type RunFrameResult =
  /** The frame was handled. An ended submission gives this result too. */
  | { readonly kind: 'handled' }
  /** The submission is unknown, or is not assigned to this node. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'unexpected'; readonly message: string };

const handled: RunFrameResult = { kind: 'handled' };
const foreign: RunFrameResult = { kind: 'foreign' };

/**
 * Keeps only the units in `usageUnits`, and ignores others that a node may send. Returns undefined
 * if an amount is invalid.
 */
function usageOf(reported: ReportedUsage): Usage | undefined {
  const known = usageUnits.flatMap((unit) => {
    const amount = reported[unit];
    return amount === undefined ? [] : [[unit, amount] as const];
  });
  return parseUsage(Object.fromEntries(known));
}

const unreadableUsage: RunFrameResult = {
  kind: 'unexpected',
  message: '/usage has an amount that is not valid',
};

/**
 * Sends `cancel`. The slot of an assigned run is freed after the answer of the node, or after 30 s
 * (CONTRACT 7).
 */
function sendCancel(dispatcher: Dispatcher, link: NodeLink, submissionId: string): void {
  // While the `accept` is still being committed, the slot is not freed, because the assignment may
  // follow and needs it.
  if (link.runs.get(submissionId)?.isAssigned === true) {
    freeSlotLater(dispatcher, link, submissionId);
  }
  sendFrame(link, { type: 'cancel', submissionId: toWireId('sub', submissionId) });
}

/**
 * Answers a frame about a submission that is not this node's. During a recovery there is no answer,
 * because the node may still report the submission.
 */
async function answerForeign({ store }: Dispatcher, answer: () => void): Promise<RunFrameResult> {
  if ((await recoveryInForce(store)) === null) answer();
  return foreign;
}

export async function onStart(
  dispatcher: Dispatcher,
  link: NodeLink,
  frame: FrameFromNodeOf<'start'>,
): Promise<RunFrameResult> {
  const submissionId = fromWireId('sub', frame.submissionId);
  if (submissionId === undefined) {
    sendFrame(link, { type: 'cancel', submissionId: frame.submissionId });
    return foreign;
  }
  const { nodeId, instanceId } = link;
  const commit = await traced(
    dispatcher.tracing,
    { step: 'begin', subjectId: submissionId },
    () => commitRunning(dispatcher.store, { submissionId, nodeId, instanceId }),
    ({ kind }) => (kind === 'refused' ? null : {}),
  );
  if (commit.kind === 'refused') {
    const state = await stateAtNode(dispatcher.store, { submissionId, nodeId });
    if (state === null)
      return answerForeign(dispatcher, () => sendCancel(dispatcher, link, submissionId));
    sendCancel(dispatcher, link, submissionId);
    return handled;
  }
  const { requestId } = commit;
  link.logger.info({ requestId, submissionId: frame.submissionId }, 'running');
  await failpoint('running.committed');
  // If the link has ended, the node sends `start` again on its next link. The run then takes a slot
  // on that link.
  if (hasEnded(link)) return handled;
  const run = takeSlot(dispatcher, link, submissionId);
  run.isAssigned = true;
  run.requestId = requestId;
  run.begunAtMs = dispatcher.tracing.nowMs();
  // If the submission was cancelled during the commit, the node already has its `cancel`. It must
  // not get `begin` after that.
  if (!run.isStopping) sendFrame(link, { type: 'begin', submissionId: frame.submissionId });
  return handled;
}

export async function onUsage(
  dispatcher: Dispatcher,
  link: NodeLink,
  frame: FrameFromNodeOf<'usage'>,
): Promise<RunFrameResult> {
  const usage = usageOf(frame.usage);
  if (usage === undefined) return unreadableUsage;
  const submissionId = fromWireId('sub', frame.submissionId);
  if (submissionId === undefined) {
    sendFrame(link, { type: 'cancel', submissionId: frame.submissionId });
    return foreign;
  }
  const { nodeId } = link;
  const recorded = await recordUsage(dispatcher.store, { submissionId, nodeId, usage });
  switch (recorded.kind) {
    case 'recorded':
      return handled;
    case 'not_begun':
      return { kind: 'unexpected', message: 'send `usage` only after `begin`' };
    case 'ended':
      sendCancel(dispatcher, link, submissionId);
      return handled;
    case 'not_yours':
      return answerForeign(dispatcher, () => sendCancel(dispatcher, link, submissionId));
  }
}

function outcomeOf(
  frame: FrameFromNodeOf<'completed'> | FrameFromNodeOf<'failed'>,
): NodeOutcome | undefined {
  const usage = usageOf(frame.usage);
  if (usage === undefined) return undefined;
  if (frame.type === 'completed') {
    return { kind: 'completed', usage, result: resultOf(frame.result) };
  }
  const { code, message, ...stated } = frame.failure;
  return { kind: 'failed', usage, code, message, stated };
}

/**
 * Records the span of a run, from `begin` to the outcome. If `begin` was not sent on this link, the
 * span starts at the outcome.
 */
function recordRunSpan(
  { tracing }: Dispatcher,
  link: NodeLink,
  submissionId: string,
  endMs: number,
): void {
  if (!tracing.isTraced(submissionId)) return;
  const begunAtMs = link.runs.get(submissionId)?.begunAtMs;
  const attributes = {
    'svc.node.id': toWireId('nod', link.nodeId),
    'svc.run.begun_on_another_link': begunAtMs === undefined,
  };
  const startMs = begunAtMs ?? endMs;
  tracing.record({ step: 'run', subjectId: submissionId, startMs, endMs, attributes });
}

/** Keeps only the members that the contract names, and ignores others that the frame may have. */
function resultOf({ confirmationId, confirmationUrl, details }: JobResult): JobResult {
  return {
    ...(confirmationId === undefined ? {} : { confirmationId }),
    ...(confirmationUrl === undefined ? {} : { confirmationUrl }),
    ...(details === undefined ? {} : { details }),
  };
}

/**
 * Stores the outcome, enqueues its settlement, and sends `ack` (CONTRACT 7). If Redis is
 * unavailable, `ack` is still sent, because a reconciler finds the outcome.
 */
export async function onOutcome(
  dispatcher: Dispatcher,
  link: NodeLink,
  frame: FrameFromNodeOf<'completed'> | FrameFromNodeOf<'failed'>,
): Promise<RunFrameResult> {
  const outcome = outcomeOf(frame);
  if (outcome === undefined) return unreadableUsage;
  const submissionId = fromWireId('sub', frame.submissionId);
  let isForeign = submissionId === undefined;
  if (submissionId !== undefined) {
    const { store, producer } = dispatcher;
    const { nodeId } = link;
    const endMs = dispatcher.tracing.nowMs();
    const stored = await traced(
      dispatcher.tracing,
      { step: 'outcome', subjectId: submissionId },
      () => storeOutcome(store, { submissionId, nodeId, outcome }),
      ({ kind }) => (kind === 'stored' ? { 'svc.outcome': outcome.kind } : null),
    );
    switch (stored.kind) {
      case 'not_begun':
        return { kind: 'unexpected', message: 'send `completed` only after `begin`' };
      case 'stored': {
        const requestId = link.runs.get(submissionId)?.requestId;
        const about = { requestId, submissionId: frame.submissionId };
        link.logger.info({ ...about, outcome: frame.type }, 'outcome stored');
        recordRunSpan(dispatcher, link, submissionId, endMs);
        await failpoint('outcome.stored');
        const enqueued = enqueueSettlements(producer, [submissionId]);
        inBackground(dispatcher, 'enqueue a settlement', enqueued);
        // The quarantine is applied before the slot is freed. Otherwise the free slot could get an
        // offer.
        if (stored.isQuarantined) await followNode(dispatcher, nodeId);
        break;
      }
      case 'late': {
        const tenantIds = stored.deliveryIds.length === 0 ? [] : [stored.tenantId];
        const announced = announceDeliveries(producer, tenantIds);
        inBackground(dispatcher, 'enqueue the wake-up job for a late outcome', announced);
        break;
      }
      case 'not_yours':
        isForeign = true;
        break;
      case 'repeated':
    }
    // This node may have accepted the submission, and the commit of the accept may be in progress.
    // The submission then needs its slot.
    if (!isForeign) freeSlot(dispatcher, link, submissionId);
  }
  const acknowledge = () => sendFrame(link, { type: 'ack', submissionId: frame.submissionId });
  if (isForeign) return answerForeign(dispatcher, acknowledge);
  acknowledge();
  return handled;
}

/**
 * Handles `stopped`, the node's answer to `cancel` or to `stop` in the `welcome`. Always answers
 * with `ack`.
 */
export function onStopped(
  dispatcher: Dispatcher,
  link: NodeLink,
  frame: FrameFromNodeOf<'stopped'>,
): RunFrameResult {
  const submissionId = fromWireId('sub', frame.submissionId);
  const isStopping = submissionId !== undefined && link.runs.get(submissionId)?.isStopping;
  if (isStopping === true) freeSlot(dispatcher, link, submissionId);
  sendFrame(link, { type: 'ack', submissionId: frame.submissionId });
  return handled;
}

export function stopRun(dispatcher: Dispatcher, submissionId: string): void {
  for (const link of dispatcher.links.bySubmission.get(submissionId) ?? []) {
    const run = link.runs.get(submissionId);
    if (run === undefined || run.isStopping) continue;
    run.isStopping = true;
    // If the accept is still being committed, `assign` sees `isStopping` and does not send the
    // payload.
    if (run.isAssigned) sendCancel(dispatcher, link, submissionId);
  }
}
