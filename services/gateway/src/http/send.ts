import type { IncomingMessage, ServerResponse } from 'node:http';
import { problemMediaType } from '@svc/contracts';
import { assertNever, errorCatalogue } from '@svc/domain';
import { type Answer, problemBody } from './answer.ts';
import { drainBody } from './read-body.ts';

/** Sends an answer. Does nothing if a response has begun already or the client has disconnected. */
export async function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  requestId: string,
): Promise<void> {
  if (response.headersSent || response.destroyed) return;
  const { status, contentType, content, headers } = written(answer, requestId);
  const body = Buffer.from(content, 'utf8');
  const isUnread = !request.complete && hasBody(request);
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': body.length,
    ...headers,
    ...(isUnread ? { connection: 'close' } : {}),
  });
  if (!isUnread) {
    response.end(body);
    return;
  }
  response.write(body);
  // A client that still waits for `100 Continue` sends no body to drain.
  if (request.headers.expect === undefined) await drainBody(request);
  response.end();
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
