import { unauthenticatedBodyShares } from '@svc/domain';

/**
 * The memory for bodies that nobody has authenticated yet (CONTRACT 2). Each address may take one
 * eighth of it, so a single sender cannot keep the others from sending.
 */
export interface BodyBudget {
  /** Undefined if the process or the address has no room for `bytes`. Then nothing is taken. */
  reserve(addressGroup: string, bytes: number): BodyReservation | undefined;
}

export interface BodyReservation {
  /** Returns the bytes. A second call does nothing. */
  release(): void;
}

const nothing: BodyReservation = { release() {} };

export function createBodyBudget(bytesMax: number): BodyBudget {
  const addressBytesMax = Math.floor(bytesMax / unauthenticatedBodyShares);
  const byAddress = new Map<string, number>();
  let total = 0;

  function change(address: string, bytes: number): void {
    total += bytes;
    const own = (byAddress.get(address) ?? 0) + bytes;
    if (own > 0) byAddress.set(address, own);
    else byAddress.delete(address);
  }

  return {
    reserve(address, bytes) {
      if (bytes === 0) return nothing;
      const own = byAddress.get(address) ?? 0;
      if (total + bytes > bytesMax || own + bytes > addressBytesMax) return undefined;
      change(address, bytes);
      let isReleased = false;
      return {
        release() {
          if (!isReleased) change(address, -bytes);
          isReleased = true;
        },
      };
    },
  };
}
