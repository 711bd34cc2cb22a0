import { type ErrorCode, headersBytesMax, requestTimeoutMs } from '@svc/domain';

/** How long a client may take to send its headers. */
const headersTimeoutMs = 10_000;
/**
 * An idle connection stays open this long. Load balancers usually close it sooner, so they send no
 * request on a connection that the server is closing.
 */
const keepAliveTimeoutMs = 65_000;

/** The limits of requests at the servers of tenants and nodes, as options of Node (CONTRACT 2). */
export const httpServerLimits = {
  maxHeaderSize: headersBytesMax,
  headersTimeout: headersTimeoutMs,
  requestTimeout: requestTimeoutMs,
  // Node checks both times this often.
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: keepAliveTimeoutMs,
} as const;

/** The limits of TLS at the same servers, as options of Node. */
export const tlsServerLimits = {
  minVersion: 'TLSv1.2',
  handshakeTimeout: headersTimeoutMs,
} as const;

type BrokenCode = Extract<
  ErrorCode,
  'request_timeout' | 'headers_too_large' | 'payload_too_large' | 'bad_request'
>;

const brokenCodes: Readonly<Record<string, BrokenCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'payload_too_large',
};

/** The error code for an error for which Node raises `clientError` (CONTRACT 2). */
export function brokenRequestCode({ code = '' }: NodeJS.ErrnoException): BrokenCode {
  return brokenCodes[code] ?? 'bad_request';
}
