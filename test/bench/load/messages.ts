export interface LoadTenant {
  readonly tenantId: string;
  readonly hmacSecret: string;
}

/** What the driver is asked for: requests for so many seconds, or so many of them. */
export interface Load {
  /** Connections go round them. */
  readonly gatewayUrls: readonly string[];
  readonly tenants: readonly LoadTenant[];
  readonly inFlight: number;
  readonly seconds: number;
  readonly requestsMax: number;
  /** No more than so many a second; without it as many as come back. */
  readonly perSecond?: number;
}

export interface LoadResult {
  readonly created: number;
  /** How many answers there were of each other status. */
  readonly refused: Readonly<Record<string, number>>;
  readonly seconds: number;
  readonly latenciesMs: readonly number[];
}

/**
 * What the nodes do with what they are given: accept it and no more, complete it, or begin it and
 * stay at it.
 */
export type NodeMode = 'accept' | 'complete' | 'run';

/**
 * What the world is asked for. `release` fails what was only accepted, and what comes yet until the
 * next `mode`; `arrivals` also says what came since it was last asked.
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

/** What the nodes and the tenants' endpoint have seen so far. */
export interface WorldCounts {
  readonly webhookUrl: string;
  readonly connected: number;
  readonly acknowledged: number;
  /** Different deliveries: one that came twice counts once. */
  readonly webhooks: number;
  /** Milliseconds of the epoch at which the last webhook was acknowledged. */
  readonly lastWebhookAtMs: number;
  /** When each delivery was first acknowledged, milliseconds of the epoch; only where asked. */
  readonly arrivals?: readonly (readonly [deliveryId: string, atMs: number])[];
}
