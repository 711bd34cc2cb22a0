export interface LoadTenant {
  readonly tenantId: string;
  readonly hmacSecret: string;
}

/** The driver's task: requests for a number of seconds, or a number of requests. */
export interface Load {
  /** Connections use the tenants in turn. */
  readonly gatewayUrls: readonly string[];
  readonly tenants: readonly LoadTenant[];
  readonly inFlight: number;
  readonly seconds: number;
  readonly requestsMax: number;
  /** The maximum rate per second. Undefined: as fast as answers come. */
  readonly perSecond?: number;
}

export interface LoadResult {
  readonly created: number;
  /** The count of each status other than 201. */
  readonly refused: Readonly<Record<string, number>>;
  readonly seconds: number;
  readonly latenciesMs: readonly number[];
}

/** The behaviour of the nodes with assignments: only accept, complete, or begin and keep running. */
export type NodeMode = 'accept' | 'complete' | 'run';

/**
 * The requests to the world. `release` fails submissions that were only accepted, and those that
 * arrive before the next `mode`. `arrivals` also returns the arrivals since the last request.
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
  /** Distinct deliveries: a repeated delivery counts once. */
  readonly webhooks: number;
  /** The time of the last acknowledged webhook, in milliseconds of the epoch. */
  readonly lastWebhookAtMs: number;
  /**
   * The time at which each delivery was first acknowledged, in milliseconds of the epoch. Only on
   * request.
   */
  readonly arrivals?: readonly (readonly [deliveryId: string, atMs: number])[];
}
