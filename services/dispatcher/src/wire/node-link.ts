import {
  nodeLinkCloseCodes,
  parseFrameFromNode,
  simulatedExecutorName,
  type BadFrame,
  type FrameFromNode,
  type FrameFromNodeOf,
} from '@svc/contracts';
import { badFramesMax, runningMax, toWireId } from '@svc/domain';
import { newId } from '@svc/runtime';
import { isUnavailable, isUnknownKey } from '@svc/store';
import { inBackground, type Dispatcher } from '../dispatcher.ts';
import { enterFleet } from '../fleet/fleet-member.ts';
import { closeLink, endLink } from '../links/end-link.ts';
import { createForeignFrames } from '../links/foreign-frames.ts';
import { createFrameRate } from '../links/frame-rate.ts';
import {
  applySlots,
  hasEnded,
  sendFrame,
  type LinkTransport,
  type NodeLink,
} from '../links/links.ts';
import { createOrderedWork } from '../links/ordered-work.ts';
import { onAccept, onDecline } from '../offering/node-offers.ts';
import { onReport, onReported } from '../runs/reports.ts';
import { onOutcome, onStart, onStopped, onUsage, type RunFrameResult } from '../runs/runs.ts';
import { onHello } from './hello.ts';
import type { AcceptedNode } from './upgrade.ts';

/** The handlers of the events of one link (CONTRACT 7). The link's socket calls the handlers. */
export interface OpenLink {
  /** Handles one frame. `text` is undefined if the frame is binary. */
  receive(text: string | undefined): void;
  closed(): void;
}

/**
 * After a frame, reading pauses if at least this many of the link's frames and offers are not
 * handled yet. Reading resumes at half this number.
 */
const workSizeMax = 256;
const closeForFault = 1011;
/** A link without a `hello` is closed after this time. */
const helloTimeoutMs = 10_000;
const notText = { code: 'malformed_frame', message: 'a frame must be text' } as const;

export function openLink(
  dispatcher: Dispatcher,
  transport: LinkTransport,
  node: AcceptedNode,
): OpenLink {
  const link: NodeLink = {
    linkId: newId(),
    nodeId: node.nodeId,
    transport,
    logger: dispatcher.logger.child({ nodeId: toWireId('nod', node.nodeId) }),
    work: createOrderedWork(() => {
      if (link.work.size === workSizeMax / 2) transport.resume();
    }),
    state: 'connected',
    greeted: Promise.resolve(),
    rate: createFrameRate(dispatcher.clock),
    badFrames: 0,
    foreign: createForeignFrames(dispatcher.clock),
    isRecovering: false,
    unreadableReports: 0,
    linkEpoch: node.linkEpoch,
    clientAddress: node.clientAddress,
    epoch: 0,
    enteredAtMs: 0,
    jobTypes: [],
    slotsRequested: 0,
    slotsMax: node.slotsMax,
    slots: 0,
    draining: node.draining,
    quarantinedUntil: null,
    isDrainOrdered: node.draining,
    secretVersion: node.secretVersion,
    secretExpiresAt: node.secretExpiresAt,
    offers: new Map(),
    runs: new Map(),
  };
  dispatcher.links.all.add(link);
  link.helloTimer = dispatcher.timers.after(helloTimeoutMs, () =>
    closeLink(dispatcher, link, nodeLinkCloseCodes.violation, 'no valid hello arrived in time'),
  );
  return {
    receive(text) {
      if (link.state === 'ended') return;
      try {
        receive(dispatcher, link, text);
      } catch (error) {
        answerUnhandled(dispatcher, link, error);
      }
      if (link.work.size >= workSizeMax) transport.pause();
    },
    closed: () => endLink(dispatcher, link),
  };
}

function receive(dispatcher: Dispatcher, link: NodeLink, text: string | undefined): void {
  if (text === undefined) return answerBad(dispatcher, link, notText);
  // The frame is counted before it is parsed, because parsing is the main cost of a flood.
  if (!link.rate.take(Buffer.byteLength(text))) {
    answerBad(dispatcher, link, {
      code: 'rate_limited',
      message: 'the node sends too many frames or bytes a second',
    });
    return;
  }
  const parsed = parseFrameFromNode(text);
  if (parsed.kind === 'bad') {
    answerBad(dispatcher, link, parsed);
    return;
  }
  const { frame } = parsed;
  if (frame.type === 'hello' && link.state === 'connected') {
    if (frame.running.length > runningMax(link.slotsMax)) {
      const message = '/running names more submissions than are allowed for this node';
      answerBad(dispatcher, link, { code: 'invalid_frame', message });
      return;
    }
    link.helloTimer?.clear();
    const refusal = dispatcher.isSandbox ? undefined : refusalInProduction(frame);
    if (refusal !== undefined) {
      closeLink(dispatcher, link, nodeLinkCloseCodes.violation, refusal);
      return;
    }
    link.state = 'greeting';
    link.slotsRequested = frame.slots;
    applySlots(link);
    link.rate.allowFor({ slots: link.slots, running: frame.running.length });
    link.greeted = greet(dispatcher, link, frame);
  } else if (frame.type === 'hello' || link.state === 'connected') {
    const message = 'hello must be the first frame, and must be sent only once';
    answerBad(dispatcher, link, { code: 'unexpected_frame', message });
  } else {
    const receivedAtMs = dispatcher.clock.monotonicMs();
    link.work.run(orderKey(frame), async () => {
      await handle(dispatcher, link, frame);
      dispatcher.timeFrame(frame.type, dispatcher.clock.monotonicMs() - receivedAtMs);
    });
  }
}

/**
 * The reason to close a link in production after this `hello` (CONTRACT 7). Undefined if there is
 * none.
 */
function refusalInProduction({
  executors = [],
  sandboxOnly,
}: FrameFromNodeOf<'hello'>): string | undefined {
  if (executors.some(({ name }) => name === simulatedExecutorName)) {
    return 'simulated executors are allowed only in the sandbox';
  }
  if (sandboxOnly === true)
    return 'the options --map-host and --debug-dir are allowed only in the sandbox';
  return undefined;
}

async function greet(
  dispatcher: Dispatcher,
  link: NodeLink,
  frame: Extract<FrameFromNode, { type: 'hello' }>,
): Promise<void> {
  const receivedAtMs = dispatcher.clock.monotonicMs();
  try {
    await onHello(dispatcher, link, frame);
    dispatcher.timeFrame('hello', dispatcher.clock.monotonicMs() - receivedAtMs);
  } catch (error) {
    link.logger.error({ err: error }, 'could not handle the hello of a node');
    closeLink(dispatcher, link, closeForFault, 'internal error, connect again');
  }
}

function answerBad(
  dispatcher: Dispatcher,
  link: NodeLink,
  { code, message }: Pick<BadFrame, 'code' | 'message'>,
): void {
  link.badFrames += 1;
  dispatcher.countBadFrame(code);
  link.logger.warn({ code }, 'bad frame');
  // The size of the `error` frame is not checked, because even the longest message is far below the
  // limit.
  sendFrame(link, { type: 'error', code, message });
  if (link.badFrames < badFramesMax) return;
  closeLink(dispatcher, link, nodeLinkCloseCodes.violation, 'too many bad frames');
}

function answerUnhandled(dispatcher: Dispatcher, link: NodeLink, error: unknown): void {
  link.logger.error({ err: error }, 'could not handle a frame');
  if (hasEnded(link)) return;
  const message = 'the service failed to handle this frame';
  answerBad(dispatcher, link, { code: 'unhandled_frame', message });
}

/**
 * The key of a frame: its submission or its offer, or an empty text if it names neither. Frames
 * with the same key are handled in order.
 */
function orderKey(frame: Exclude<FrameFromNode, { type: 'hello' }>): string {
  switch (frame.type) {
    case 'accept':
    case 'decline':
      return frame.offerId;
    case 'drain':
    case 'reported':
      return '';
    case 'start':
    case 'usage':
    case 'completed':
    case 'failed':
    case 'stopped':
    case 'report':
      return frame.submissionId;
  }
}

type LaterFrame = Exclude<FrameFromNode, { type: 'hello' }>;

/**
 * Handles a frame that follows the `hello`. Never throws. If a dependency or a master key is
 * missing, the node gets no answer, and the frame does not count as bad.
 */
async function handle(dispatcher: Dispatcher, link: NodeLink, frame: LaterFrame): Promise<void> {
  await link.greeted;
  if (link.state === 'ended') return;
  try {
    const result = await act(dispatcher, link, frame);
    if (result?.kind === 'unexpected') {
      answerBad(dispatcher, link, { code: 'unexpected_frame', message: result.message });
    } else if (result?.kind === 'foreign' && link.foreign.isTooMany()) {
      const reason = 'too many frames about submissions that this node does not have';
      closeLink(dispatcher, link, nodeLinkCloseCodes.violation, reason);
    }
  } catch (error) {
    if (isUnavailable(error) || isUnknownKey(error)) {
      link.logger.warn(
        { err: error, frame: frame.type },
        'a frame was not handled, because a dependency or a master key is unavailable',
      );
      return;
    }
    answerUnhandled(dispatcher, link, error);
  }
}

async function act(
  dispatcher: Dispatcher,
  link: NodeLink,
  frame: LaterFrame,
): Promise<RunFrameResult | undefined> {
  switch (frame.type) {
    case 'accept':
      await onAccept(dispatcher, link, frame.offerId);
      return undefined;
    case 'decline':
      onDecline(dispatcher, link, frame);
      return undefined;
    case 'start':
      return onStart(dispatcher, link, frame);
    case 'usage':
      return onUsage(dispatcher, link, frame);
    case 'completed':
    case 'failed':
      return onOutcome(dispatcher, link, frame);
    case 'stopped':
      return onStopped(dispatcher, link, frame);
    case 'report':
      return onReport(dispatcher, link, frame);
    case 'reported':
      return onReported(dispatcher, link);
    case 'drain':
      link.draining = true;
      inBackground(
        dispatcher,
        'mark a link as draining in the fleet registry',
        enterFleet(dispatcher, link),
      );
      return undefined;
  }
}
