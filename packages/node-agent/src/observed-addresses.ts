import { isIP } from 'node:net';
import { isPublicAddress } from '@svc/domain';

/**
 * The public addresses of this node as the service sees them (CONTRACT 7, "Address"). Keeps the last
 * IPv4 and the last IPv6 address, because each link uses only one of the two.
 */
export interface ObservedAddresses {
  /** Notes the `observedAddress` of a `welcome`. Ignores a text that is no public address. */
  note(address: string | null | undefined): void;
  list(): readonly string[];
}

export function createObservedAddresses(): ObservedAddresses {
  const byFamily = new Map<number, string>();
  return {
    note(address) {
      if (typeof address !== 'string' || !isPublicAddress(address)) return;
      byFamily.set(isIP(address), address);
    },
    list: () => [...byFamily.values()],
  };
}
