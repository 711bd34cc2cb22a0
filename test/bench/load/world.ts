import { once } from 'node:events';
import { createServer } from 'node:http';
import { signRequest } from '@svc/signing';
import { WebSocket } from 'ws';
import { monotonicMs } from './clock.ts';
import type { Arrival, LinkTo, NodeMode, WorldCounts, WorldMessage } from './messages.ts';
import { submissionIdIn } from './request.ts';
import { textOf } from './text-of.ts';

/**
 * The process that runs the nodes and the tenants' webhook endpoint. The nodes accept each offer at
 * once, and the endpoint acknowledges each webhook at once.
 */

const slots = 200;
const seen = { connected: 0, acknowledged: 0, webhooks: 0, lastWebhookAtMs: 0 };
const accepted = new Map<string, WebSocket>();
let arrivals: Arrival[] = [];
const arrived = new Set<string>();
let mode: NodeMode = 'complete';
/** The message `release` sets this to true. The next message `mode` sets it to false. */
let isReleasing = false;

const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => (body += chunk));
  request.once('end', () => {
    response.writeHead(204).end();
    note(String(request.headers['x-svc-delivery']), body);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
const port = typeof address === 'object' && address !== null ? address.port : 0;

process.on('message', (message: WorldMessage) => {
  if (message.kind === 'connect') {
    void Promise.all(message.nodes.map((node) => connectNode(node))).then(() => answer());
    return;
  }
  if (message.kind === 'mode') {
    mode = message.mode;
    isReleasing = false;
  }
  if (message.kind === 'release') release();
  answer(message.kind === 'arrivals' ? takeArrivals() : {});
});
process.on('disconnect', () => process.exit(0));
process.stdout.write(`${JSON.stringify({ msg: 'ready', port })}\n`);

function answer(more: Pick<WorldCounts, 'arrivals'> = {}): void {
  const counts: WorldCounts = { webhookUrl: `http://127.0.0.1:${port}/`, ...seen, ...more };
  process.send?.(counts);
}

function note(deliveryId: string, body: string): void {
  if (arrived.has(deliveryId)) return;
  arrived.add(deliveryId);
  const atMs = Date.now();
  const submissionId = submissionIdIn(body) ?? '';
  arrivals.push({ deliveryId, submissionId, atMs, monotonicMs: monotonicMs() });
  seen.webhooks += 1;
  seen.lastWebhookAtMs = atMs;
}

function takeArrivals(): Required<Pick<WorldCounts, 'arrivals'>> {
  const taken = arrivals;
  arrivals = [];
  arrived.clear();
  return { arrivals: taken };
}

async function connectNode({ link, nodeId, secret }: LinkTo): Promise<void> {
  const timestamp = Math.floor(Date.now() / 1_000);
  const target = new URL(link).pathname;
  const socket = new WebSocket(link, ['svc.node.v1'], {
    perMessageDeflate: false,
    headers: {
      'x-svc-node': nodeId,
      'x-svc-timestamp': String(timestamp),
      'x-svc-signature': signRequest({ secret, timestamp, method: 'GET', target, body: '' }),
    },
  });
  await once(socket, 'open');
  const welcome = once(socket, 'message');
  send(socket, {
    type: 'hello',
    agentVersion: 'bench',
    jobTypes: ['ats.application'],
    slots,
    running: [],
  });
  await welcome;
  seen.connected += 1;
  socket.on('message', (data) => take(socket, textOf(data)));
  socket.on('close', () => (seen.connected -= 1));
  socket.on('error', () => {});
}

const send = (socket: WebSocket, frame: object): void => socket.send(JSON.stringify(frame));

interface Frame {
  readonly type: string;
  readonly offerId: string;
  readonly submissionId: string;
}

const usage = {
  nodeSeconds: 0.5,
  cpuSeconds: 0.2,
  memoryGbSeconds: 0.1,
  bandwidthMb: 1,
  actions: 7,
};

function take(socket: WebSocket, text: string): void {
  const frame: Frame = JSON.parse(text);
  const { submissionId, offerId } = frame;
  switch (frame.type) {
    case 'offer':
      send(socket, { type: 'accept', offerId });
      break;
    case 'assign':
      if (mode !== 'accept') send(socket, { type: 'start', submissionId });
      else if (isReleasing) fail(submissionId, socket);
      else accepted.set(submissionId, socket);
      break;
    case 'begin':
      if (mode === 'run') break;
      send(socket, {
        type: 'completed',
        submissionId,
        usage,
        result: { confirmationId: 'A-1042' },
      });
      break;
    case 'ack':
      seen.acknowledged += 1;
      break;
    default:
  }
}

/**
 * Frees every slot for the next measurement: reports a failure of each accepted submission.
 * `isReleasing` makes `take` do the same for submissions that are assigned later.
 */
function release(): void {
  isReleasing = true;
  for (const [submissionId, socket] of accepted) fail(submissionId, socket);
  accepted.clear();
}

/**
 * Reports a failure. The service quarantines a node after five failures with the code `node_error`.
 * This failure has another code, so it does not count.
 */
function fail(submissionId: string, socket: WebSocket): void {
  const failure = { code: 'posting_closed', message: 'released' };
  send(socket, { type: 'failed', submissionId, usage: {}, failure });
}
