import type { Schedule } from './schedule.ts';

export interface LoadTenant {
  readonly tenantId: string;
  readonly hmacSecret: string;
}

export interface Load {
  /**
   * With a closed `pace`, each new connection goes to the next of these gateways in turn. With an
   * open one, each request does.
   */
  readonly gatewayUrls: readonly string[];
  /** Requests use the tenants in turn. */
  readonly tenants: readonly LoadTenant[];
  readonly pace: Pace;
}

/**
 * A connection of a closed pace sends its next request when its last one is answered. An open pace
 * sends at scheduled instants and does not wait for answers.
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
  /**
   * In an open loop, the time at which the request was due. In a closed loop, the time at which the
   * request was sent.
   */
  readonly dueAtMs: number;
  readonly answeredAtMs: number;
}

export interface LoadResult {
  readonly posts: readonly Post[];
  /**
   * The number of answers with each status except 201. In an open loop, the key 0 counts the
   * requests whose connection failed.
   */
  readonly refused: Readonly<Record<string, number>>;
  readonly open?: OpenResult;
}

interface OpenResult {
  /**
   * The end of the schedule, or the instant at which the driver abandoned the schedule. This time
   * is of the monotonic clock (clock.ts).
   */
  readonly endAtMs: number;
  /**
   * The number of requests without an answer at `endAtMs`. Each had been sent or was waiting for a
   * connection.
   */
  readonly unanswered: number;
  /**
   * True if the driver abandoned the schedule, because `unansweredMax` requests were unanswered.
   */
  readonly isAbandoned: boolean;
  /** The 99th percentile of the time from a request's scheduled instant until it was sent. */
  readonly lateP99Ms: number;
}

/** In the mode `accept`, the nodes start no submission. */
export type NodeMode = 'accept' | 'complete' | 'run';

/** The requests to the process of world.ts. */
export type WorldMessage =
  | { readonly kind: 'connect'; readonly nodes: readonly LinkTo[] }
  | { readonly kind: 'mode'; readonly mode: NodeMode }
  /**
   * After `release`, the nodes report a failure of each submission that they did not start, until
   * the next `mode`.
   */
  | { readonly kind: 'release' | 'count' | 'arrivals' };

export interface LinkTo {
  readonly link: string;
  readonly nodeId: string;
  readonly secret: string;
}

export interface WorldCounts {
  readonly webhookUrl: string;
  readonly connected: number;
  readonly acknowledged: number;
  /**
   * The number of deliveries. A delivery that arrives twice is counted once. But an `arrivals`
   * request clears the list of counted deliveries, so a later repetition is counted again.
   */
  readonly webhooks: number;
  /** The time of the last webhook that `webhooks` counted, in Unix ms. 0 before the first. */
  readonly lastWebhookAtMs: number;
  /** Set only in the answer to a request of the kind `arrivals`. */
  readonly arrivals?: readonly Arrival[];
}

/**
 * A delivery that the webhook endpoint acknowledged. If a delivery arrives twice before the next
 * `arrivals` request, only its first arrival is listed.
 */
export interface Arrival {
  readonly deliveryId: string;
  readonly submissionId: string;
  /** In Unix ms, to compare with a database's time. */
  readonly atMs: number;
  /** The same instant by the monotonic clock (clock.ts), to compare with the driver's times. */
  readonly monotonicMs: number;
}
