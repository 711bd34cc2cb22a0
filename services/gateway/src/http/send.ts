import type { IncomingMessage, ServerResponse } from 'node:http';
import { problemMediaType } from '@svc/contracts';
import { assertNever, errorCatalogue } from '@svc/domain';
import { type Answer, problemBody } from './answer.ts';
import type { Exchange } from './exchange.ts';
import { rateLimitHeaders } from './rate-limit-headers.ts';
import { drainBody } from './read-body.ts';
import { securityHeaders } from './security-headers.ts';

/** Sends an answer. Does nothing if a response has begun already or the client has disconnected. */
export async function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  exchange: Pick<Exchange, 'requestId' | 'rateLimit'>,
): Promise<void> {
  if (response.headersSent || response.destroyed) return;
  const { status, contentType, content, headers } = written(answer, exchange.requestId);
  const hasContent = answer.kind !== 'empty';
  const body = Buffer.from(content, 'utf8');
  const isUnread = !request.complete && hasBody(request);
  // One array of names and values costs less CPU than a call of `setHeader` for each header.
  const sent = headersWith(headers);
  sent.push('x-request-id', exchange.requestId);
  if (exchange.rateLimit !== undefined) sent.push(...rateLimitHeaders(exchange.rateLimit));
  if (hasContent) sent.push('content-type', contentType, 'content-length', `${body.length}`);
  if (isUnread) sent.push('connection', 'close');
  response.writeHead(status, sent);
  if (!isUnread) {
    response.end(body);
    return;
  }
  response.write(body);
  // A request with `Expect` is not drained, because its client may still wait for `100 Continue`
  // before it sends a body.
  if (request.headers.expect === undefined) await drainBody(request);
  response.end();
}

const defaultHeaders = [...securityHeaders, ['cache-control', 'no-store']] as const;
const defaultPairs: readonly string[] = defaultHeaders.flat();

function headersWith(own: Readonly<Record<string, string>>): string[] {
  const names = Object.keys(own);
  if (names.length === 0) return [...defaultPairs];
  return [
    ...defaultHeaders.filter(([name]) => !names.includes(name)).flat(),
    ...Object.entries(own).flat(),
  ];
}

interface Written {
  readonly status: number;
  readonly contentType: string;
  readonly content: string;
  readonly headers: Readonly<Record<string, string>>;
}

function written(answer: Answer, requestId: string): Written {
  switch (answer.kind) {
    case 'json': {
      const content = JSON.stringify(answer.body);
      return { status: answer.status, contentType: 'application/json', content, headers: {} };
    }
    case 'empty':
      return { status: 204, contentType: '', content: '', headers: {} };
    case 'text':
      return { ...answer, content: answer.text };
    case 'problem': {
      const content = JSON.stringify(problemBody(answer, requestId));
      const { status } = errorCatalogue[answer.code];
      return { status, contentType: problemMediaType, content, headers: answer.headers };
    }
    default:
      return assertNever(answer);
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
