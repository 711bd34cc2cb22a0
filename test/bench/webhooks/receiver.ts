import { once } from 'node:events';
import { createServer } from 'node:http';

/**
 * The Unix ms of the first arrival of each delivery since the last `GET`, by the id of the
 * delivery.
 */
let arrivals: Record<string, number> = {};

/** An endpoint that accepts every webhook. `GET` returns and clears `arrivals`. */
const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify(arrivals));
    arrivals = {};
    return;
  }
  const id = String(request.headers['x-svc-delivery']);
  request.resume().on('end', () => {
    arrivals[id] ??= Date.now();
    response.writeHead(204).end();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
const port = typeof address === 'object' && address !== null ? address.port : 0;
process.stdout.write(`${JSON.stringify({ msg: 'ready', port })}\n`);
process.on('disconnect', () => process.exit());
process.on('SIGTERM', () => process.exit());
