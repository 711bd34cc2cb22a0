import type { Duplex } from 'node:stream';
import { problemMediaType, type Problem } from '@svc/contracts';
import { errorCatalogue, retryAfterSecondsDefault } from '@svc/domain';
import { answerRaw } from '@svc/runtime';
import type { UpgradeRefusal } from './upgrade.ts';

const errorsPage = '/docs/errors';
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
    case 'request_timeout':
    case 'headers_too_large':
    case 'payload_too_large':
    case 'misdirected_request':
    case 'not_found':
      return [];
  }
}

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
  answerRaw(socket, problem, [`content-type: ${problemMediaType}`, ...headersOf(refusal)]);
}
