import type { PageRequest } from './submit-fence.ts';

export interface PausedRequest {
  readonly requestId: string;
  /**
   * The browser's id of the request. All events of the request and of its redirects have the same
   * id. Undefined if the browser gives none.
   */
  readonly networkId: string | undefined;
  readonly isRedirect: boolean;
  readonly request: PageRequest;
  /** Undefined if the request is paused before it is sent. */
  readonly answer: PausedAnswer | undefined;
}

/** `status` is undefined if the request failed without an answer. */
export interface PausedAnswer {
  readonly status: number | undefined;
  readonly location: string | undefined;
}

/**
 * The most characters of a request body that are searched for the values of the form. Two files of
 * 25 MiB each are 67 MiB in base64.
 */
const bodyTextLengthMax = 96 * 1024 * 1024;

type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/**
 * The text of the body, without the parts that the browser does not report, such as a file from the
 * disk. Undefined if the browser reports no part.
 */
function bodyTextOf(request: Fields): string | undefined {
  const text = textOf(request['postData']);
  if (text !== undefined) return text.slice(0, bodyTextLengthMax);
  const parts = listOf(request['postDataEntries']).map((entry) => textOf(fieldsOf(entry)['bytes']));
  const known = parts.filter((part) => part !== undefined);
  if (known.length === 0) return undefined;
  const bytes = Buffer.concat(known.map((part) => Buffer.from(part, 'base64')));
  return bytes.toString('utf8').slice(0, bodyTextLengthMax);
}

function answerOf(fields: Fields): PausedAnswer | undefined {
  const status = fields['responseStatusCode'];
  if (typeof status !== 'number') {
    return fields['responseErrorReason'] === undefined
      ? undefined
      : { status: undefined, location: undefined };
  }
  const location = listOf(fields['responseHeaders'])
    .map(fieldsOf)
    .find((header) => textOf(header['name'])?.toLowerCase() === 'location');
  return { status, location: textOf(location?.['value']) };
}

export function readPausedRequest(params: unknown): PausedRequest | undefined {
  const fields = fieldsOf(params);
  const request = fieldsOf(fields['request']);
  const requestId = textOf(fields['requestId']);
  const method = textOf(request['method']);
  const url = textOf(request['url']);
  if (requestId === undefined || method === undefined || url === undefined) return undefined;
  return {
    requestId,
    networkId: textOf(fields['networkId']),
    isRedirect: fields['redirectedRequestId'] !== undefined,
    request: {
      method,
      url,
      bodyText: bodyTextOf(request),
      isNavigation: fields['resourceType'] === 'Document',
      ...(fields['resourceType'] === 'Ping' && { isBeacon: true }),
    },
    answer: answerOf(fields),
  };
}
