/**
 * Decides which connections may be opened while the submission request is on its way
 * (CONTRACT 10, "At most once"). A browser repeats a request only on another connection. None is
 * available, so the application leaves once.
 */
export type Seal =
  | { readonly kind: 'open' }
  /**
   * One connection for the request `to` is let through. Others wait while the slot is `free` or
   * `used`, and are refused once it is `ended`. While the slot is `free`, a CORS preflight passes
   * without it.
   */
  | { readonly kind: 'sealed'; readonly to: SealedTo; readonly slot: 'free' | 'used' | 'ended' }
  | { readonly kind: 'shut' };

/** Describes the request that the one connection is for. */
export interface SealedTo {
  /** `host:port` of the submission request. */
  readonly key: string;
  /** Its method. The proxy sees the method of plain HTTP only. */
  readonly method: string;
}

/** A connection that the browser asks for. */
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
      // The CORS preflight of the submission request. It carries no application.
      if (method === 'OPTIONS' && seal.slot === 'free') return 'pass';
      if (method !== undefined && method !== seal.to.method) return 'hold';
      return seal.slot === 'free' ? 'take_slot' : 'hold';
  }
}
