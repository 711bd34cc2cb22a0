import type { Http, Signer } from './http.ts';
import type { Seen } from './seen.ts';
import type { LoadTenant } from './tenant.ts';

export interface LoadWorld {
  readonly http: Http;
  readonly seen: Seen;
  readonly tenants: readonly LoadTenant[];
  readonly operator: Signer;
  /**
   * The URLs at which tenants reach the gateways. Each URL leads to a TCP proxy in this process.
   * If `hosts.direct` is set (world/hosts.ts), each URL leads to the gateway itself.
   */
  readonly gatewayUrls: readonly string[];
}

export function gatewayOf({ gatewayUrls }: Pick<LoadWorld, 'gatewayUrls'>, turn: number): string {
  return gatewayUrls[turn % gatewayUrls.length] ?? '';
}
