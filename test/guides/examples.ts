import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

export const examplesDir = path.resolve(import.meta.dirname, '../../examples');

/**
 * The directory in which `pnpm guides` has installed the packages of the examples, except Next.js.
 * Undefined in `npm test`.
 */
const installed = process.env['EXAMPLES_INSTALLED'];
const nodeModules = [
  path.resolve(import.meta.dirname, '../../node_modules'),
  ...(installed === undefined ? [] : [path.join(installed, 'node_modules')]),
];
const examplesPython = process.env['EXAMPLES_PYTHON'] ?? process.env['PYTHON'] ?? 'python3';

export interface ReceiverExample {
  readonly name: string;
  readonly command: readonly string[];
  /** A Node package that the example needs. */
  readonly npm?: string;
  /** A Python package that the example needs. */
  readonly pip?: string;
}

export const receiverExamples: readonly ReceiverExample[] = [
  { name: 'express', npm: 'express', command: [process.execPath, 'receiver.ts'] },
  { name: 'fastify', npm: 'fastify', command: [process.execPath, 'receiver.ts'] },
  { name: 'nextjs', command: [process.execPath, 'serve-route.ts'] },
  { name: 'flask', pip: 'flask', command: [examplesPython, 'receiver.py'] },
  { name: 'fastapi', pip: 'uvicorn', command: [examplesPython, 'receiver.py'] },
];

export function missingPackage({ npm, pip }: ReceiverExample): string | undefined {
  if (npm !== undefined && locate(npm) === undefined) return npm;
  if (pip === undefined) return undefined;
  try {
    execFileSync(examplesPython, ['-c', `import ${pip}`], { stdio: 'ignore' });
    return undefined;
  } catch {
    return pip;
  }
}

function locate(npm: string): string | undefined {
  return nodeModules.map((dir) => path.join(dir, npm)).find((dir) => existsSync(dir));
}

/**
 * Copies an example into `dir`, where `@svc/client` must be installed, and returns the copy's
 * folder. `npm` names a package that the copy uses if it is installed.
 */
export function installExample(name: string, dir: string, npm?: string): string {
  const target = path.join(dir, name);
  cpSync(path.join(examplesDir, name), target, { recursive: true });
  const source = npm === undefined ? undefined : locate(npm);
  if (npm !== undefined && source !== undefined) {
    mkdirSync(path.join(target, 'node_modules'));
    symlinkSync(source, path.join(target, 'node_modules', npm));
  }
  if (name === 'nextjs') writeFileSync(path.join(target, 'serve-route.ts'), serveRoute);
  return target;
}

/**
 * A program that calls the route handler as Next.js does, with a `Request`, and sends the
 * `Response` that the handler returns.
 */
const serveRoute = `import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { POST } from './app/api/webhooks/route.ts';

createServer(async (request, response) => {
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
  const body = await buffer(request);
  const answer = await POST(new Request('http://localhost/', { method: 'POST', headers, body }));
  response.writeHead(answer.status).end(await answer.text());
}).listen(Number(process.env.PORT));
`;
