/**
 * The seal of a proxy makes the application leave only once (CONTRACT 10, "At most once"). It
 * decides which connections may be opened while the submission request is on its way. A browser
 * repeats a request only on another connection, so the seal lets only one connection carry the
 * application. The seal is no encryption.
 */
export type Seal =
  | { readonly kind: 'open' }
  /**
   * The first connection that matches the submission request `to` takes the slot and passes. Every
   * other connection waits, and is refused once the slot is `ended`. But while the slot is `free`,
   * a CORS preflight over plain HTTP to `to.key` passes too, because it carries no application.
   */
  | { readonly kind: 'sealed'; readonly to: SealedTo; readonly slot: 'free' | 'used' | 'ended' }
  | { readonly kind: 'shut' };

export interface SealedTo {
  /** `host:port` of the submission request. */
  readonly key: string;
  /**
   * The method of the submission request. The proxy sees the method of a request only in plain
   * HTTP.
   */
  readonly method: string;
}

export interface Passage {
  readonly key: string;
  /** Undefined for a tunnel. */
  readonly method: string | undefined;
}

export type Admittance = 'pass' | 'take_slot' | 'hold' | 'refuse';

export function admittanceOf(seal: Seal, { key, method }: Passage): Admittance {
  switch (seal.kind) {
    case 'open':
      return 'pass';
    case 'shut':
      return 'refuse';
    case 'sealed':
      if (seal.slot === 'ended') return 'refuse';
      if (key !== seal.to.key) return 'hold';
      // Lets the CORS preflight of the submission request pass, because it carries no application.
      if (method === 'OPTIONS' && seal.slot === 'free') return 'pass';
      if (method !== undefined && method !== seal.to.method) return 'hold';
      return seal.slot === 'free' ? 'take_slot' : 'hold';
  }
}
