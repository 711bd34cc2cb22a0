import { once } from 'node:events';
import { createServer } from 'node:http';
import { signRequest } from '@svc/signing';
import { type RawData, WebSocket } from 'ws';
import type { LinkTo, WorldCounts, WorldMessage } from './messages.ts';

/**
 * A process that is everything outside: the nodes, which accept at once, and the tenants' webhook
 * endpoint, which acknowledges at once.
 */

const slots = 1_000;
const seen = { connected: 0, accepted: 0, acknowledged: 0, webhooks: 0, lastWebhookAtMs: 0 };
const accepted = new Map<string, WebSocket>();
let mode: 'accept' | 'complete' = 'complete';

const server = createServer((request, response) => {
  request.resume();
  request.once('end', () => {
    seen.webhooks += 1;
    seen.lastWebhookAtMs = Date.now();
    response.writeHead(204).end();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
const port = typeof address === 'object' && address !== null ? address.port : 0;

process.on('message', (message: WorldMessage) => {
  if (message.kind === 'connect') {
    void Promise.all(message.nodes.map((node) => connectNode(node))).then(() => tell());
    return;
  }
  if (message.kind === 'mode') mode = message.mode;
  if (message.kind === 'release') release();
  tell();
});
process.on('disconnect', () => process.exit(0));
process.stdout.write(`${JSON.stringify({ msg: 'ready', port })}\n`);

function tell(): void {
  const counts: WorldCounts = { webhookUrl: `http://127.0.0.1:${port}/`, ...seen };
  process.send?.(counts);
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
      seen.accepted += 1;
      send(socket, { type: 'accept', offerId });
      break;
    case 'assign':
      if (mode === 'complete') send(socket, { type: 'start', submissionId });
      else accepted.set(submissionId, socket);
      break;
    case 'begin':
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

/** Gives back what was only accepted, so that the next measurement finds every slot free. */
function release(): void {
  const failure = { code: 'node_error', message: 'released' };
  for (const [submissionId, socket] of accepted)
    send(socket, { type: 'failed', submissionId, usage: {}, failure });
  accepted.clear();
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return (data instanceof ArrayBuffer ? Buffer.from(data) : data).toString('utf8');
}
