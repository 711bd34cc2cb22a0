import type { Schedule } from './schedule.ts';

export interface LoadTenant {
  readonly tenantId: string;
  readonly hmacSecret: string;
}

/** The driver's task. */
export interface Load {
  /** Requests use the gateways and the tenants in turn. */
  readonly gatewayUrls: readonly string[];
  readonly tenants: readonly LoadTenant[];
  readonly pace: Pace;
}

/**
 * Closed: a number of connections, each of which sends a request as soon as it has the answer to
 * its last one. Open: requests at scheduled instants, which do not wait for answers.
 */
export type Pace =
  | {
      readonly kind: 'closed';
      readonly inFlight: number;
      readonly seconds: number;
      readonly requestsMax: number;
    }
  | ({ readonly kind: 'open' } & Schedule);

/** A request that was answered with 201. Times are of the monotonic clock (clock.ts). */
export interface Post {
  readonly submissionId: string;
  /** The scheduled instant in an open loop. Otherwise the instant at which it was sent. */
  readonly dueAtMs: number;
  readonly answeredAtMs: number;
}

export interface LoadResult {
  readonly posts: readonly Post[];
  /** The count of each status other than 201. 0 counts failed connections. */
  readonly refused: Readonly<Record<string, number>>;
  /** Set only for an open loop. */
  readonly open?: OpenResult;
}

interface OpenResult {
  /** The end of the schedule, by the monotonic clock. */
  readonly endAtMs: number;
  /** The number of requests that were due at `endAtMs` and had no answer at that instant. */
  readonly unanswered: number;
  /**
   * True if too many requests were unanswered (`unansweredMax`), so the driver did not send the
   * rest of the schedule.
   */
  readonly isAbandoned: boolean;
  /** The 99th percentile of the time from a request's scheduled instant until it was sent. */
  readonly lateP99Ms: number;
}

/** The behaviour of the nodes: only accept, complete, or begin and keep running. */
export type NodeMode = 'accept' | 'complete' | 'run';

/**
 * The requests to the world process (world.ts). `release` fails the submissions that were only
 * accepted, and those that are assigned before the next `mode`. The answer to `arrivals` contains
 * the arrivals since the last such request.
 */
export type WorldMessage =
  | { readonly kind: 'connect'; readonly nodes: readonly LinkTo[] }
  | { readonly kind: 'mode'; readonly mode: NodeMode }
  | { readonly kind: 'release' | 'count' | 'arrivals' };

export interface LinkTo {
  readonly link: string;
  readonly nodeId: string;
  readonly secret: string;
}

/** The observations of the nodes and of the tenants' endpoint so far. */
export interface WorldCounts {
  readonly webhookUrl: string;
  readonly connected: number;
  readonly acknowledged: number;
  /**
   * Distinct deliveries: a repeated delivery counts once, unless an `arrivals` request came in
   * between.
   */
  readonly webhooks: number;
  /** The time of the last webhook that `webhooks` counted, in Unix ms. 0 before the first. */
  readonly lastWebhookAtMs: number;
  /** Set only in the answer to `arrivals`. */
  readonly arrivals?: readonly Arrival[];
}

/** The first acknowledgement of a delivery. */
export interface Arrival {
  readonly deliveryId: string;
  readonly submissionId: string;
  /** In Unix ms, to compare with a database's time. */
  readonly atMs: number;
  /** The same instant by the monotonic clock, to compare with the driver's. */
  readonly monotonicMs: number;
}
