import type { ProblemError } from '@svc/contracts';
import { fieldErrorAt } from '@svc/contracts';
import {
  type JsonDocument,
  jsonValuesMax,
  parseJsonDocument,
  type UnsafeString,
} from '@svc/domain';
import { problem, type ProblemAnswer } from './answer.ts';
import type { SignedRequest } from './signed-request.ts';

export type JsonReading =
  | { readonly kind: 'json'; readonly document: JsonDocument }
  | ProblemAnswer;

const jsonMediaType = /^application\/json\s*(?:;|$)/i;
/** Matches a parameter `charset` with a value other than UTF-8. */
const foreignCharset = /;\s*charset\s*=\s*(?!"?utf-8"?\s*(?:;|$))/i;

/**
 * Reads JSON (CONTRACT 3). A wrong media type or a compressed body is 415, other faults are 422. An
 * empty body is 422 with any content type.
 */
export function readJson({
  body: bytes,
  contentType = '',
  contentEncoding = 'identity',
}: Pick<SignedRequest, 'body' | 'contentType' | 'contentEncoding'>): JsonReading {
  if (bytes.length === 0) return invalid('The body is empty.', '', 'must be a JSON object', 'json');
  if (!jsonMediaType.test(contentType) || foreignCharset.test(contentType)) {
    return problem(
      'unsupported_media_type',
      'The body must be JSON in UTF-8. Send the header `content-type: application/json`.',
    );
  }
  if (contentEncoding.toLowerCase() !== 'identity') {
    return problem(
      'unsupported_media_type',
      'Compressed bodies are not supported. Send the body without `content-encoding`.',
    );
  }
  const text = decodeUtf8(bytes);
  if (text === undefined) {
    return invalid('The body is not JSON.', '', 'must be encoded as UTF-8', 'json');
  }
  const parsing = parseJsonDocument(text, jsonValuesMax);
  if (parsing.kind === 'malformed') {
    const where = `line ${parsing.line}, column ${parsing.column}`;
    return invalid('The body is not JSON.', '', `${parsing.message} (${where})`, 'json');
  }
  const { unsafeStrings } = parsing.document;
  if (unsafeStrings.length === 0) return { kind: 'json', document: parsing.document };
  return validationProblem(unsafeStrings.map(unsafeStringError));
}

export function validationProblem(
  errors: readonly ProblemError[],
  detail = 'The body is not valid. `errors` lists what to correct.',
): ProblemAnswer {
  return problem('validation_error', detail, { errors: [...errors] });
}

function invalid(detail: string, path: string, message: string, keyword: string): ProblemAnswer {
  return validationProblem([{ path, message, keyword }], detail);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

function unsafeStringError({ pointer, where, found }: UnsafeString): ProblemError {
  const subject = where === 'name' ? 'has a member whose name contains' : 'must not contain';
  const what = found === 'nul' ? 'U+0000' : 'half of a surrogate pair';
  return fieldErrorAt(pointer, `${subject} ${what}`, 'unsafeString');
}
