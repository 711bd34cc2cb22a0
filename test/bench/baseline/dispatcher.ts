import { createServer } from 'node:http';
import { fromWireId, toWireId } from '@svc/domain';
import { newId } from '@svc/runtime';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { dispatchedStatement, one, openPool, outcomeStatement } from './database.ts';
import { type DispatchJob, openQueue, hops, sayReady, setting, work } from './process.ts';

const answerMs = 2_000;
const runLimitSeconds = 1_800;

const pool = openPool(setting('DATABASE_URL'));
const settlements = openQueue(hops.settlement);

interface Node {
  readonly id: string;
  readonly socket: WebSocket;
  free: number;
}

const nodes = new Map<WebSocket, Node>();
const offers = new Map<string, (accepted: boolean) => void>();

type Frame = Record<string, unknown> & { readonly type: string };

const send = (socket: WebSocket, frame: object): void => socket.send(JSON.stringify(frame));

/** True if the assignment to a node is committed. */
async function dispatch(job: DispatchJob): Promise<boolean> {
  const [node] = [...nodes.values()].toSorted((left, right) => right.free - left.free);
  if (node === undefined || node.free <= 0) return false;
  node.free -= 1;
  const offerId = newId();
  const submissionId = toWireId('sub', job.submissionId);
  const { jobType, tier, targetHost, requestId } = job;
  send(node.socket, {
    type: 'offer',
    offerId,
    submissionId,
    jobType,
    tier,
    targetHost,
    maxNodeSeconds: runLimitSeconds,
    expiresInMs: answerMs,
    requestId,
  });
  const accepted = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), answerMs);
    offers.set(offerId, (isAccepted) => {
      clearTimeout(timer);
      resolve(isAccepted);
    });
  });
  offers.delete(offerId);
  const row = accepted
    ? await one<{ payload: string }>(pool, dispatchedStatement, [job.submissionId, node.id])
    : undefined;
  if (row === undefined) {
    node.free += 1;
    return false;
  }
  const payload: unknown = JSON.parse(row.payload);
  send(node.socket, { type: 'assign', offerId, submissionId, payload });
  return true;
}

async function storeOutcome(node: Node, frame: Frame): Promise<void> {
  const submissionId = fromWireId('sub', String(frame['submissionId']));
  if (submissionId === undefined) return;
  const state = frame.type === 'completed' ? 'completed' : 'unsuccessful';
  const values = [submissionId, node.id, state, JSON.stringify(frame['usage'])];
  const stored = await one(pool, outcomeStatement, values);
  if (stored !== undefined) {
    node.free += 1;
    await settlements.add('settle', { submissionId });
  }
  send(node.socket, { type: 'ack', submissionId: frame['submissionId'] });
}

async function take(socket: WebSocket, frame: Frame): Promise<void> {
  const node = nodes.get(socket);
  if (frame.type === 'hello') {
    const id = newId();
    nodes.set(socket, { id, socket, free: Number(frame['slots']) });
    return send(socket, { type: 'welcome', nodeId: id, heartbeatSeconds: 5, stop: [] });
  }
  if (node === undefined) return;
  if (frame.type === 'accept') return offers.get(String(frame['offerId']))?.(true);
  if (frame.type === 'decline') return offers.get(String(frame['offerId']))?.(false);
  if (frame.type === 'start')
    return send(socket, { type: 'begin', submissionId: frame['submissionId'] });
  if (frame.type === 'completed' || frame.type === 'failed') await storeOutcome(node, frame);
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return (data instanceof ArrayBuffer ? Buffer.from(data) : data).toString('utf8');
}

const server = createServer();
const links = new WebSocketServer({ server, handleProtocols: () => 'svc.node.v1' });
links.on('connection', (socket) => {
  socket.on('message', (data) => {
    const frame: Frame = JSON.parse(textOf(data));
    take(socket, frame).catch((error: unknown) => console.error(error));
  });
  socket.on('close', () => nodes.delete(socket));
});
work(hops.dispatch, dispatch);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  sayReady({ port: typeof address === 'object' && address !== null ? address.port : 0 });
});
