import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { askLink } from './doctor/ask-link.ts';
import { askFamilies } from './executors/browser/egress/look-up.ts';
import { nodeId, secret, startScriptedService } from './scripted-service.fixture.ts';
import { openSocket } from './socket.ts';

/** A system whose name server drops AAAA queries. */
const lookUp = askFamilies((_name, family) =>
  family === 4 ? Promise.resolve(['127.0.0.1']) : new Promise(() => {}),
);

test('a link opens if the name server drops AAAA queries', async () => {
  const service = await startScriptedService();
  const link = service.link.replace('127.0.0.1', 'nodes.example.com');
  const opened = Promise.withResolvers<void>();
  const socket = openSocket(
    { link, nodeId, secret, lookUp },
    {
      opened: () => opened.resolve(),
      received: () => {},
      ended: ({ closeCode }) => opened.reject(new Error(`the link ended with ${closeCode}`)),
    },
    () => {},
  );
  await expect(opened.promise).resolves.toBeUndefined();
  socket.terminate();
});

test('the doctor asks a link whose name server drops AAAA queries', async () => {
  const server = createServer((_request, response) => response.writeHead(400).end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const link = `ws://nodes.example.com:${port}`;
  const answer = await askLink({ link, id: nodeId, secret, nowMs: Date.now, lookUp });
  expect(answer).toMatchObject({ kind: 'answered', status: 400 });
});

test('the doctor gets the code of the system if a name has no address', async () => {
  const question = { link: 'ws://nodes.invalid:1', id: nodeId, secret, nowMs: Date.now };
  const answer = await askLink(question);
  expect(answer).toMatchObject({ kind: 'unreachable' });
  expect(['ENOTFOUND', 'EAI_AGAIN']).toContain(answer.kind === 'unreachable' && answer.code);
});
