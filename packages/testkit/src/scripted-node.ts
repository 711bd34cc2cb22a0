import {
  parseFrameToNode,
  type FrameFromNode,
  type FrameFromNodeOf,
  type FrameToNode,
  type FrameToNodeOf,
  type FrameToNodeType,
  type JobResult,
  type ReportedUsage,
} from '@svc/contracts';
import type { RawData, WebSocket } from 'ws';
import { linkRequest, openLinkSocket, type NodeIdentity } from './link-request.ts';
import { track } from './open-resources.ts';

export interface ScriptedNodeOptions extends NodeIdentity {
  readonly slots?: number;
  readonly jobTypes?: readonly string[];
  readonly running?: readonly string[];
  /**
   * The `instanceId` of `hello`. The default is the same for all scripted nodes. If this option is
   * set to undefined, `hello` has no `instanceId`.
   */
  readonly instanceId?: string | undefined;
}

/**
 * By default an autopilot accepts each offer, and reports `completed` after `begin`. It starts each
 * assignment and answers each `cancel` with `stopped`.
 */
export interface AutoPilot {
  readonly answer?: (offer: FrameToNodeOf<'offer'>) => 'accept' | 'decline' | 'silent';
  /** Returns the outcome to report after `begin`, or undefined to report nothing. */
  readonly outcome?: (submissionId: string) => ScriptedOutcome | undefined;
}

export type ScriptedOutcome =
  | { readonly completed: JobResult; readonly usage?: ReportedUsage }
  | {
      readonly failed: FrameFromNodeOf<'failed'>['failure'];
      readonly usage?: ReportedUsage;
    };

/**
 * A real node link that a test controls. The link records every received frame. The test can send
 * any frame on it.
 */
export interface ScriptedNode {
  readonly nodeId: string;
  readonly welcome: FrameToNodeOf<'welcome'>;
  /** Every received frame, in order, including the frames that `next` has taken. */
  readonly frames: readonly FrameToNode[];
  /** The original texts of the frames, which show JSON numbers beyond 2^53 exactly. */
  readonly texts: readonly string[];
  /**
   * Waits for a matching frame that no call has returned yet, and returns the oldest one. Throws
   * after `timeoutMs` (default 5 s), or if the link closes first.
   */
  next<T extends FrameToNodeType>(
    type: T,
    options?: {
      readonly where?: (frame: FrameToNodeOf<T>) => boolean;
      readonly timeoutMs?: number;
    },
  ): Promise<FrameToNodeOf<T>>;
  send(frame: FrameFromNode): void;
  /** Sends any text or bytes, including malformed frames. */
  sendText(text: string | Uint8Array): void;
  /**
   * Accepts the next offer, starts its submission, and waits for `begin`. Returns the submission's
   * wire id. Throws as `next` does.
   */
  runNext(): Promise<string>;
  autoPilot(pilot?: AutoPilot): void;
  /** Stops reading frames and answering pings. The node does not close the link. */
  deafen(): void;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  /** Closes the link with a closing handshake, and waits until the link has closed. */
  close(): Promise<void>;
  /** Ends the connection without a closing handshake, as when an agent is killed. */
  cut(): Promise<void>;
}

const nextTimeoutMsDefault = 5_000;

interface Frames {
  readonly all: FrameToNode[];
  readonly texts: string[];
  readonly untaken: FrameToNode[];
  readonly waiting: Set<() => void>;
}

/**
 * Returns after the `welcome`. Throws `LinkRefused` if the link is refused, and another error if it
 * closes or no `welcome` arrives within 5 s.
 */
export async function connectScriptedNode(options: ScriptedNodeOptions): Promise<ScriptedNode> {
  const socket = await openLinkSocket(linkRequest(options));
  const frames: Frames = { all: [], texts: [], untaken: [], waiting: new Set() };
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString('utf8') }));
  });
  socket.on('message', (data) => receive(frames, textOf(data)));
  socket.on('close', () => wakeAll(frames));
  socket.on('error', () => {});
  const cut = track({
    what: `the link of ${options.nodeId}`,
    async close() {
      socket.terminate();
      await closed;
    },
  });
  void closed.then(cut);
  const send = (frame: FrameFromNode): void => socket.send(JSON.stringify(frame));
  const { instanceId } = { instanceId: 'scripted', ...options };
  send({
    type: 'hello',
    agentVersion: 'scripted',
    ...(instanceId === undefined ? {} : { instanceId }),
    jobTypes: [...(options.jobTypes ?? ['ats.application'])],
    slots: options.slots ?? 1,
    running: [...(options.running ?? [])],
  });
  const next: ScriptedNode['next'] = (type, wanted = {}) => take(socket, frames, type, wanted);
  const welcome = await next('welcome');
  const node: ScriptedNode = {
    nodeId: options.nodeId,
    welcome,
    frames: frames.all,
    texts: frames.texts,
    next,
    send,
    sendText: (text) => socket.send(text),
    runNext: () => runNext(node),
    autoPilot(pilot = {}) {
      socket.on('message', (data) => fly(node, pilot, textOf(data)));
    },
    deafen: () => socket.pause(),
    closed,
    async close() {
      socket.resume();
      socket.close(1000);
      await closed;
    },
    cut,
  };
  return node;
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return (data instanceof ArrayBuffer ? Buffer.from(data) : data).toString('utf8');
}

function receive(frames: Frames, text: string): void {
  const parsed = parseFrameToNode(text);
  if (parsed.kind === 'bad') throw new Error(`the service sent a bad frame: ${parsed.message}`);
  frames.texts.push(text);
  frames.all.push(parsed.frame);
  frames.untaken.push(parsed.frame);
  wakeAll(frames);
}

function wakeAll(frames: Frames): void {
  for (const wake of frames.waiting) wake();
}

function isOfType<T extends FrameToNodeType>(
  frame: FrameToNode,
  type: T,
): frame is FrameToNode & FrameToNodeOf<T> {
  return frame.type === type;
}

async function take<T extends FrameToNodeType>(
  socket: WebSocket,
  frames: Frames,
  type: T,
  {
    where = () => true,
    timeoutMs = nextTimeoutMsDefault,
  }: {
    readonly where?: (frame: FrameToNodeOf<T>) => boolean;
    readonly timeoutMs?: number;
  },
): Promise<FrameToNodeOf<T>> {
  const giveUpAtMs = performance.now() + timeoutMs;
  for (;;) {
    for (const [index, frame] of frames.untaken.entries()) {
      if (!isOfType(frame, type) || !where(frame)) continue;
      frames.untaken.splice(index, 1);
      return frame;
    }
    const restMs = giveUpAtMs - performance.now();
    const seen = frames.all.map((frame) => frame.type).join(', ');
    if (socket.readyState !== socket.OPEN) {
      throw new Error(`the link closed before a matching ${type} arrived; all frames: ${seen}`);
    }
    if (restMs <= 0)
      throw new Error(`no matching ${type} arrived within ${timeoutMs} ms; all frames: ${seen}`);
    await nextChange(frames, restMs);
  }
}

async function nextChange(frames: Frames, timeoutMs: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      frames.waiting.delete(done);
      resolve();
    };
    const timer = setTimeout(done, timeoutMs);
    frames.waiting.add(done);
  });
}

async function runNext(node: ScriptedNode): Promise<string> {
  const { offerId, submissionId } = await node.next('offer');
  const about = { where: (frame: { submissionId: string }) => frame.submissionId === submissionId };
  node.send({ type: 'accept', offerId });
  await node.next('assign', about);
  node.send({ type: 'start', submissionId });
  await node.next('begin', about);
  return submissionId;
}

/**
 * Answers one frame as `pilot` decides. An outcome is sent once, without a repetition, because the
 * link of a test loses no frame.
 */
function fly(node: ScriptedNode, pilot: AutoPilot, text: string): void {
  const parsed = parseFrameToNode(text);
  if (parsed.kind === 'bad') return;
  const { frame } = parsed;
  switch (frame.type) {
    case 'offer': {
      const { offerId } = frame;
      const answer = pilot.answer?.(frame) ?? 'accept';
      if (answer === 'accept') node.send({ type: 'accept', offerId });
      if (answer === 'decline') node.send({ type: 'decline', offerId, reason: 'policy' });
      return;
    }
    case 'assign':
      node.send({ type: 'start', submissionId: frame.submissionId });
      return;
    case 'begin':
      report(node, pilot, frame.submissionId);
      return;
    case 'cancel':
      node.send({ type: 'stopped', submissionId: frame.submissionId, usage: {} });
      return;
    case 'welcome':
    case 'revoke':
    case 'ack':
    case 'recorded':
    case 'drain':
    case 'error':
  }
}

function report(node: ScriptedNode, { outcome }: AutoPilot, submissionId: string): void {
  const reported = outcome === undefined ? { completed: {} } : outcome(submissionId);
  if (reported === undefined) return;
  const usage = reported.usage ?? {};
  if ('completed' in reported) {
    node.send({ type: 'completed', submissionId, usage, result: reported.completed });
  } else {
    node.send({ type: 'failed', submissionId, usage, failure: reported.failed });
  }
}
