import { startTcpProxy } from '../faults/world/tcp-proxy.ts';

/**
 * A load balancer on a node's host: `node balancer.ts HOST:PORT...`. Each connection goes to the
 * next dispatcher, even to an unreachable one.
 */
const targets = process.argv.slice(2).map((target) => {
  const [host = '', port] = target.split(':');
  return { host, port: Number(port) };
});
let turn = process.pid;
const { port } = await startTcpProxy('dispatchers', () => {
  turn += 1;
  return targets[turn % targets.length];
});
process.stdout.write(`${JSON.stringify({ msg: 'ready', port })}\n`);
