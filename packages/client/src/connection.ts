import { requestSigner, type SignedParts } from './request-signature.ts';
import { pause } from './time-limit.ts';

export interface ClientOptions {
  /** The base URL of the environment, `https://…`, with or without a trailing slash. */
  readonly baseUrl: string;
  readonly tenantId: string;
  /** The whole HMAC secret, `hsk_…`. */
  readonly secret: string;
  /**
   * The id of the key that `secret` belongs to, `key_…`. Needed if `createKey` made the secret
   * (CONTRACT 12).
   */
  readonly keyId?: string;
  /** The most repeats of one call after temporary errors. Default: 3. */
  readonly maxRetries?: number;
  /** False: a call throws the error `dispatch_unavailable` without a repeat. Default: true. */
  readonly retryDispatchUnavailable?: boolean;
  /**
   * The time limit of each request (default: 30,000); requests that wait for events or a payment
   * get more. Use more than 6,000, because finding a node may take six seconds.
   */
  readonly requestTimeoutMs?: number;
  readonly fetch?: typeof globalThis.fetch;
  /**
   * The clock for timestamps and durations, in milliseconds since 1970. Default: `Date.now` for
   * timestamps, and `performance.now` for durations.
   */
  readonly now?: () => number;
  readonly sleep?: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

export interface CallOptions {
  /**
   * Aborts the call, its repeats and its pauses. The call then rejects with the reason of the
   * signal.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * The time limit of the whole call, with its repeats and pauses, in milliseconds. For a list, it
   * is the limit of each page. Default: none.
   */
  readonly timeoutMs?: number | undefined;
  readonly maxRetries?: number | undefined;
  readonly retryDispatchUnavailable?: boolean | undefined;
}

/** The settings of a client and its clock offset. All calls of the client share this object. */
export interface Connection {
  readonly baseUrl: string;
  readonly tenantId: string;
  readonly keyId?: string;
  readonly maxRetries: number;
  readonly retryDispatchUnavailable: boolean;
  readonly requestTimeoutMs: number;
  readonly fetch: typeof globalThis.fetch;
  readonly sign: (request: SignedParts) => Promise<string>;
  readonly now: () => number;
  /** A clock for durations, in milliseconds. */
  readonly elapsed: () => number;
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  /**
   * The clock of the service minus the local clock, in milliseconds. It is 0 until the service
   * refuses a timestamp.
   */
  clockOffsetMs: number;
}

export function given<Members extends object>(members: Members): Given<Members>;
export function given(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

type Given<Members> = { [Name in keyof Members]: Exclude<Members[Name], undefined> };

export function connect(options: ClientOptions): Connection {
  return {
    maxRetries: 3,
    retryDispatchUnavailable: true,
    requestTimeoutMs: 30_000,
    // Some platforms refuse a `fetch` that is called as a method of another object.
    fetch: (input, init) => globalThis.fetch(input, init),
    now: Date.now,
    elapsed: options.now ?? (() => performance.now()),
    sleep: pause,
    ...given(options),
    baseUrl: options.baseUrl.replace(/\/+$/, ''),
    sign: requestSigner(options.secret),
    clockOffsetMs: 0,
  };
}
