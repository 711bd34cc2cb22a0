import type { Http, Signer } from './http.ts';
import type { Seen } from './seen.ts';
import type { LoadTenant } from './tenant.ts';

export interface LoadWorld {
  readonly http: Http;
  readonly seen: Seen;
  readonly tenants: readonly LoadTenant[];
  readonly operator: Signer;
  /**
   * The URLs at which tenants reach the gateways. Each leads through a TCP proxy of this process,
   * except with `hosts.direct` (world/hosts.ts).
   */
  readonly gatewayUrls: readonly string[];
}

export function gatewayOf({ gatewayUrls }: Pick<LoadWorld, 'gatewayUrls'>, turn: number): string {
  return gatewayUrls[turn % gatewayUrls.length] ?? '';
}
