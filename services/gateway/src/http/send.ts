import type { IncomingMessage, ServerResponse } from 'node:http';
import { problemMediaType } from '@svc/contracts';
import { errorCatalogue } from '@svc/domain';
import { type Answer, problemBody } from './answer.ts';
import { drainBody } from './read-body.ts';

/** Sends an answer, once; where one has begun already, or nobody is there, it does nothing. */
export async function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  requestId: string,
): Promise<void> {
  if (response.headersSent || response.destroyed) return;
  const isProblem = answer.kind === 'problem';
  const content = JSON.stringify(isProblem ? problemBody(answer, requestId) : answer.body);
  const body = Buffer.from(content, 'utf8');
  const isUnread = !request.complete && hasBody(request);
  response.writeHead(isProblem ? errorCatalogue[answer.code].status : answer.status, {
    'content-type': isProblem ? problemMediaType : 'application/json',
    'content-length': body.length,
    ...(isProblem ? answer.headers : {}),
    ...(isUnread ? { connection: 'close' } : {}),
  });
  if (!isUnread) {
    response.end(body);
    return;
  }
  response.write(body);
  // A client that still waits for `100 Continue` sends nothing that could be drained.
  if (request.headers.expect === undefined) await drainBody(request);
  response.end();
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
