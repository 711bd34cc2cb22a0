import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import {
  assignFrameText,
  type FrameFromNode,
  parseFrameFromNode,
  type SentFrame,
} from '@svc/contracts';
import { WebSocketServer, type WebSocket } from 'ws';
import type { WireOutcome } from '../run-job.ts';

export const nodeId = 'nod_01kajh8z2wf5xav9c3q7m4n6rt';

/** The end of a submission, as the service knows it. */
export type Ended =
  | WireOutcome
  /** The `hello` of a new link did not name the submission, so the node has lost it. */
  | { readonly type: 'lost' }
  /** The node reported `stopped`, because another instance had got `begin`. */
  | { readonly type: 'stopped' };

interface Assigned {
  readonly payloadText: string;
  isAssigned: boolean;
  begunBy?: string;
  ended?: Ended;
}

const pingIntervalMs = 4_000;
const offerAgainMs = 20;
const maxNodeSeconds = 300;

/**
 * The service's side of one node's link. It assigns submissions and keeps a rule of CONTRACT 7:
 * only the instance that got `begin` may run a submission.
 */
export interface LinkEnd {
  readonly url: string;
  linked(): Promise<void>;
  /**
   * Assigns a submission. Resolves when `begin` was sent, or when the submission ended before that.
   */
  assign(submissionId: string, payloadText: string): Promise<void>;
  ended(submissionId: string): Promise<Ended>;
  /** Breaks the link without a close frame. */
  cut(): void;
  close(): Promise<void>;
}

export async function startLinkEnd(): Promise<LinkEnd> {
  const http = createServer();
  const server = new WebSocketServer({ server: http, handleProtocols: () => 'svc.node.v1' });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const state = createState();
  const pings = setInterval(() => {
    for (const socket of server.clients) socket.ping();
  }, pingIntervalMs);
  server.on('connection', (socket) => {
    socket.on('error', () => {});
    socket.on('message', (data: Buffer) => {
      const parsed = parseFrameFromNode(data.toString('utf8'));
      if (parsed.kind === 'bad') throw new Error(`the agent sent a bad frame: ${parsed.message}`);
      receive(state, socket, parsed.frame);
    });
    socket.on('close', () => {
      if (state.socket === socket) state.socket = undefined;
    });
  });
  return {
    url: `ws://127.0.0.1:${address.port}`,
    linked: () => until(state, () => state.socket !== undefined),
    async assign(submissionId, payloadText) {
      const submission: Assigned = { payloadText, isAssigned: false };
      state.submissions.set(submissionId, submission);
      offerAll(state);
      await until(state, () => (submission.begunBy ?? submission.ended) !== undefined);
    },
    async ended(submissionId) {
      const submission = state.submissions.get(submissionId);
      await until(state, () => submission?.ended !== undefined);
      if (submission?.ended === undefined) throw new Error(`${submissionId} has not ended`);
      return submission.ended;
    },
    cut: () => state.socket?.terminate(),
    async close() {
      clearInterval(pings);
      for (const socket of server.clients) socket.terminate();
      server.close();
      http.close();
      await once(http, 'close');
    },
  };
}

interface State {
  readonly submissions: Map<string, Assigned>;
  readonly changes: EventEmitter;
  socket: WebSocket | undefined;
  instanceId: string;
}

function createState(): State {
  const changes = new EventEmitter();
  changes.setMaxListeners(0);
  return { submissions: new Map(), changes, socket: undefined, instanceId: '' };
}

async function until({ changes }: State, isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await once(changes, 'change');
}

function send(socket: WebSocket, frame: SentFrame): void {
  socket.send(JSON.stringify(frame));
}

function offerIdOf(submissionId: string): string {
  return submissionId.replace('sub_', 'ofr_');
}

function offerAll(state: State): void {
  if (state.socket === undefined) return;
  for (const [submissionId, { isAssigned, ended }] of state.submissions) {
    if (isAssigned || ended !== undefined) continue;
    send(state.socket, {
      type: 'offer',
      offerId: offerIdOf(submissionId),
      submissionId,
      jobType: 'ats.application',
      tier: 'instant',
      targetHost: 'jobs.example.com',
      maxNodeSeconds,
      expiresInMs: 2_000,
      requestId: 'r',
    });
  }
}

function endMissing(state: State, running: readonly string[]): void {
  for (const [submissionId, submission] of state.submissions) {
    if (
      submission.isAssigned &&
      submission.ended === undefined &&
      !running.includes(submissionId)
    ) {
      submission.ended = { type: 'lost' };
    }
  }
}

function receive(state: State, socket: WebSocket, frame: FrameFromNode): void {
  switch (frame.type) {
    case 'hello':
      state.socket = socket;
      state.instanceId = frame.instanceId ?? '';
      endMissing(state, frame.running);
      send(socket, { type: 'welcome', nodeId, heartbeatSeconds: 5, stop: [] });
      offerAll(state);
      break;
    case 'accept': {
      const submissionId = frame.offerId.replace('ofr_', 'sub_');
      const submission = state.submissions.get(submissionId);
      if (submission === undefined) break;
      submission.isAssigned = true;
      const { payloadText } = submission;
      socket.send(assignFrameText({ offerId: frame.offerId, submissionId, payloadText }));
      break;
    }
    case 'start':
      begin(state, socket, frame.submissionId);
      break;
    case 'completed':
    case 'failed':
      end(state, socket, frame.submissionId, frame);
      break;
    case 'stopped':
      end(state, socket, frame.submissionId, { type: 'stopped' });
      break;
    case 'decline':
      // Offer again later: the node frees the slot of the previous submission a moment after it
      // has received the `ack`.
      setTimeout(() => offerAll(state), offerAgainMs);
      break;
    case 'usage':
    case 'drain':
    case 'report':
    case 'reported':
      break;
  }
  state.changes.emit('change');
}

function begin(state: State, socket: WebSocket, submissionId: string): void {
  const submission = state.submissions.get(submissionId);
  if (submission === undefined || submission.ended !== undefined) return;
  submission.begunBy ??= state.instanceId;
  const isSame = submission.begunBy === state.instanceId;
  send(socket, { type: isSame ? 'begin' : 'cancel', submissionId });
}

function end(state: State, socket: WebSocket, submissionId: string, ended: Ended): void {
  const submission = state.submissions.get(submissionId);
  if (submission !== undefined) submission.ended ??= ended;
  send(socket, { type: 'ack', submissionId });
}
