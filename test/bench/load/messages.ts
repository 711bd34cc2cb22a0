export interface LoadTenant {
  readonly tenantId: string;
  readonly hmacSecret: string;
}

/** What the driver is asked for: requests for so many seconds, or so many of them. */
export interface Load {
  readonly gatewayUrl: string;
  readonly tenants: readonly LoadTenant[];
  readonly inFlight: number;
  readonly seconds: number;
  readonly requestsMax: number;
}

export interface LoadResult {
  readonly created: number;
  /** How many answers there were of each other status. */
  readonly refused: Readonly<Record<string, number>>;
  readonly seconds: number;
  readonly latenciesMs: readonly number[];
}

/** How the nodes behave from now on; `release` fails what was only accepted. */
export type WorldMessage =
  | { readonly kind: 'connect'; readonly nodes: readonly LinkTo[] }
  | { readonly kind: 'mode'; readonly mode: 'accept' | 'complete' }
  | { readonly kind: 'release' }
  | { readonly kind: 'count' };

export interface LinkTo {
  readonly link: string;
  readonly nodeId: string;
  readonly secret: string;
}

/** What the nodes and the tenants' endpoint have seen so far. */
export interface WorldCounts {
  readonly webhookUrl: string;
  readonly connected: number;
  readonly accepted: number;
  readonly acknowledged: number;
  readonly webhooks: number;
  /** Milliseconds of the epoch at which the last webhook was acknowledged. */
  readonly lastWebhookAtMs: number;
}
