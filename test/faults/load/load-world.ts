import type { Http, Signer } from './http.ts';
import type { Seen } from './seen.ts';
import type { LoadTenant } from './tenant.ts';

/** What the load needs of the world. */
export interface LoadWorld {
  readonly http: Http;
  readonly seen: Seen;
  readonly tenants: readonly LoadTenant[];
  readonly operator: Signer;
  /** As tenants reach them, through a wire that may be cut. */
  readonly gatewayUrls: readonly string[];
}

export function gatewayOf({ gatewayUrls }: Pick<LoadWorld, 'gatewayUrls'>, turn: number): string {
  return gatewayUrls[turn % gatewayUrls.length] ?? '';
}
