import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

export interface Received {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  close(): void;
}

export async function startReceiver(statuses: readonly number[]): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const status = statuses[Math.min(received.length, statuses.length - 1)] ?? 204;
      received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
      response.writeHead(status).end();
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    received,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

export interface Running {
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  readonly errors: () => string;
  interrupt(): void;
  readonly ended: Promise<number | null>;
}

export function runCommand(
  program: string,
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Running {
  const child = spawn(process.execPath, [program, ...words], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: Record<string, unknown>[] = [];
  let errors = '';
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)));
  child.stderr.on('data', (chunk) => (errors += String(chunk)));
  const ended = new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  return { lines, errors: () => errors, interrupt: () => child.kill('SIGINT'), ended };
}
