import { readFileSync } from 'node:fs';
import { linkRequest, openLinkSocket, type NodeIdentity } from '@svc/testkit';

/**
 * A child process of `fleet-idle.ts` that opens the nodes' links. It sends its parent `{ linked }`,
 * the number of links so far, and `{ closed }`, the close code of a lost link.
 */

/** The most links that are opened at the same time. */
const atOnce = 64;

const [file = ''] = process.argv.slice(2);
const nodes: NodeIdentity[] = JSON.parse(readFileSync(file, 'utf8'));
const hello = JSON.stringify({
  type: 'hello',
  agentVersion: 'bench',
  jobTypes: ['ats.application'],
  slots: 1,
  running: [],
});
let linked = 0;

async function link(node: NodeIdentity): Promise<void> {
  const socket = await openLinkSocket(linkRequest(node));
  const welcomed = new Promise((resolve) => socket.once('message', resolve));
  socket.on('error', () => {});
  socket.on('close', (code) => process.send?.({ closed: code }));
  socket.send(hello);
  await welcomed;
  linked += 1;
  process.send?.({ linked });
}

const waiting = nodes.values();
async function linkAll(): Promise<void> {
  for (const node of waiting) await link(node);
}
process.on('disconnect', () => process.exit(0));
await Promise.all(Array.from({ length: atOnce }, linkAll));
