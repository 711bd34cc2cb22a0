import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

import { problemMediaType, type Problem } from '@svc/contracts';
import { errorCatalogue, requestIdLengthMax, retryAfterSecondsDefault } from '@svc/domain';
import { newId } from '@svc/runtime';

import type { UpgradeRefusal } from './upgrade.ts';

const acceptableRequestId = new RegExp(`^[A-Za-z0-9._-]{1,${requestIdLengthMax}}$`);
/** The page that documents the errors. Each code is an anchor on it. */
const errorsPage = '/docs/errors';
/**
 * The connection stays half open this long after the answer, so that no reset discards the answer.
 */
const lingerMs = 500;

/** The incoming `x-request-id` if it is valid, otherwise a new one (CONTRACT 2). */
export function requestIdOf(request: IncomingMessage | undefined): string {
  const given = request?.headers['x-request-id'];
  return typeof given === 'string' && acceptableRequestId.test(given) ? given : newId();
}

/** The extra headers of an error code (CONTRACT 1 and 2). */
function headersOf({ code, retryAfterSeconds }: UpgradeRefusal): string[] {
  switch (code) {
    case 'unauthenticated':
      return ['www-authenticate: SVC1-HMAC-SHA256'];
    case 'method_not_allowed':
      return ['allow: GET'];
    case 'rate_limited':
    case 'unavailable':
      return [`retry-after: ${retryAfterSeconds ?? retryAfterSecondsDefault}`];
    case 'bad_request':
    case 'misdirected_request':
    case 'not_found':
      return [];
  }
}

/** Answers a refused upgrade with a problem document, and ends the connection. */
export function writeRefusal(socket: Duplex, refusal: UpgradeRefusal, requestId: string): void {
  const { code, detail, retryAfterSeconds = retryAfterSecondsDefault } = refusal;
  const saysWhen = code === 'unavailable' || code === 'rate_limited';
  const { status, title } = errorCatalogue[code];
  const problem: Problem = {
    type: `${errorsPage}#${code}`,
    title,
    status,
    detail,
    code,
    requestId,
    ...(saysWhen ? { retryAfterSeconds } : {}),
  };
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    `x-request-id: ${requestId}`,
    `content-type: ${problemMediaType}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    'connection: close',
    ...headersOf(refusal),
  ];
  socket.on('error', () => {});
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  setTimeout(() => socket.destroy(), lingerMs).unref();
}
