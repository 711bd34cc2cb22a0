import { requestSigner, type SignedParts } from './request-signature.ts';
import { pause } from './time-limit.ts';

export interface ClientOptions {
  /** The base URL of the environment, `https://…`, with or without a trailing slash. */
  readonly baseUrl: string;
  readonly tenantId: string;
  /** The whole HMAC secret, `hsk_…`. */
  readonly secret: string;
  /** How often a call is repeated after a temporary error. Default: 3. */
  readonly maxRetries?: number;
  /** False: `dispatch_unavailable` is reported at once. Default: true. */
  readonly retryDispatchUnavailable?: boolean;
  /** The time limit of one request, without its repeats. Default: 30,000. A creation waits up to six seconds for a node. */
  readonly requestTimeoutMs?: number;
  readonly fetch?: typeof globalThis.fetch;
  /** The clock: milliseconds since 1970. It is corrected if the service says that it is off. */
  readonly now?: () => number;
  readonly sleep?: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

/** Options of one call. */
export interface CallOptions {
  /** Aborts the call, its repeats and its pauses. The call rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** The time limit of the whole call with its repeats and pauses. Default: none. */
  readonly timeoutMs?: number | undefined;
  readonly maxRetries?: number | undefined;
  readonly retryDispatchUnavailable?: boolean | undefined;
}

/** What all calls of a client share. */
export interface Connection {
  readonly baseUrl: string;
  readonly tenantId: string;
  readonly maxRetries: number;
  readonly retryDispatchUnavailable: boolean;
  readonly requestTimeoutMs: number;
  readonly fetch: typeof globalThis.fetch;
  readonly sign: (request: SignedParts) => Promise<string>;
  readonly now: () => number;
  /** A clock for durations, in milliseconds. */
  readonly elapsed: () => number;
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  /** The clock of the service minus the local clock, in milliseconds, once the service has told it. */
  clockOffsetMs: number;
}

const maxRetriesDefault = 3;
const requestTimeoutMsDefault = 30_000;

export function connect(options: ClientOptions): Connection {
  const { baseUrl, tenantId, secret, now } = options;
  return {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    tenantId,
    maxRetries: options.maxRetries ?? maxRetriesDefault,
    retryDispatchUnavailable: options.retryDispatchUnavailable ?? true,
    requestTimeoutMs: options.requestTimeoutMs ?? requestTimeoutMsDefault,
    // Some platforms refuse a `fetch` that is called as a method of another object.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    sign: requestSigner(secret),
    now: now ?? Date.now,
    elapsed: now ?? (() => performance.now()),
    sleep: options.sleep ?? pause,
    clockOffsetMs: 0,
  };
}
