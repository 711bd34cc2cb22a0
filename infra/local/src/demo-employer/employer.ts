import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { readAnswers } from './form.ts';
import {
  type Application,
  contentSecurityPolicy,
  countPath,
  formPage,
  formPath,
  inboxPage,
  thanksPage,
} from './pages.ts';

/**
 * The host name of the demo employer. No DNS server knows it. The browser node maps it to a port of
 * this machine.
 */
export const employerHost = 'careers.example-engines.example';
export const employerFormUrl = `http://${employerHost}${formPath}`;

export interface DemoEmployer {
  readonly url: string;
  readonly port: number;
  /** Newest first, at most `applicationsMax`. */
  readonly applications: readonly Application[];
  close(): Promise<void>;
}

const bodyBytesMax = 2 * 1024 * 1024;
const applicationsMax = 20;

interface Answer {
  readonly status: number;
  readonly page?: string;
  readonly location?: string;
}

/**
 * Starts the demo employer on 127.0.0.1: an application form, and a page that shows what has
 * arrived. It writes nothing to disk. `port` 0 takes any free port.
 */
export async function startDemoEmployer({ port = 0 } = {}): Promise<DemoEmployer> {
  const applications: Application[] = [];
  let requests = 0;
  const receive = async (request: IncomingMessage): Promise<Answer> => {
    requests += 1;
    const form = await readForm(request);
    if (form === undefined) return { status: 400 };
    const { answers, missing } = readAnswers(form);
    const file = form.get('resume');
    if (missing.length > 0 || file === null || typeof file === 'string') {
      return { status: 422, page: formPage(missing) };
    }
    const number = `EE-${String(requests).padStart(4, '0')}`;
    const sha256 = createHash('sha256')
      .update(await file.bytes())
      .digest('hex');
    const stored = { name: file.name, bytes: file.size, sha256 };
    applications.unshift({ number, at: new Date(), answers, file: stored });
    applications.splice(applicationsMax);
    return { status: 303, location: `/thanks/${number}` };
  };
  const answer = async (request: IncomingMessage): Promise<Answer> => {
    const { method = '', url: target = '', headers } = request;
    if (!isAllowed(headers)) return { status: 403 };
    if (method === 'POST' && target === formPath) return receive(request);
    if (method !== 'GET' && method !== 'HEAD') return { status: 405 };
    if (target === formPath) return { status: 200, page: formPage() };
    const confirmed = applications.find(({ number }) => target === `/thanks/${number}`);
    if (confirmed !== undefined) return { status: 200, page: thanksPage(confirmed.number) };
    // Nodes use the name `employerHost`. Under this name they cannot read the applications of other
    // nodes.
    if (headers.host === employerHost) return { status: 404 };
    if (target === countPath) return { status: 200, page: `${requests}` };
    return target === '/'
      ? { status: 200, page: inboxPage(applications, requests) }
      : { status: 404 };
  };
  const server = createServer((request, response) => {
    answer(request).then(
      (given) => send(response, given),
      () => response.destroy(),
    );
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const ownNames = new Set([
    employerHost,
    `127.0.0.1:${address.port}`,
    `localhost:${address.port}`,
  ]);
  /**
   * True if `host` is one of `ownNames`, and `origin` is missing or names the same host over HTTP.
   * A page of another web site must not read or post applications.
   */
  const isAllowed = ({ host = '', origin }: IncomingMessage['headers']) =>
    ownNames.has(host) && (origin === undefined || origin === `http://${host}`);
  return {
    url: `http://127.0.0.1:${address.port}/`,
    port: address.port,
    applications,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function readForm(request: IncomingMessage): Promise<FormData | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const part: Uint8Array = chunk;
    bytes += part.length;
    if (bytes > bodyBytesMax) return undefined;
    chunks.push(part);
  }
  const headers = { 'content-type': request.headers['content-type'] ?? '' };
  return new Response(Buffer.concat(chunks), { headers }).formData().catch(() => undefined);
}

function send(response: ServerResponse, { status, page, location }: Answer): void {
  response.writeHead(status, {
    'cache-control': 'no-store',
    'content-security-policy': contentSecurityPolicy,
    'content-type': 'text/html; charset=utf-8',
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    ...(location === undefined ? {} : { location }),
  });
  response.end(page ?? `${status}\n`);
}
