/**
 * The seal of a proxy decides which connections the proxy opens, so that at most one of them
 * carries the application (decision 28).
 */
export type Seal =
  | { readonly kind: 'open' }
  /**
   * Only the first connection that matches `to` passes. Others wait, and are refused when `slot` is
   * `ended`. A plain HTTP `OPTIONS` request may pass, too (`admittanceOf`).
   */
  | {
      readonly kind: 'sealed';
      readonly to: SealedTo;
      /**
       * The slot is for the one connection that may carry the application. `ended`: this connection
       * has failed, or its tunnel has ended.
       */
      readonly slot: 'free' | 'used' | 'ended';
    }
  | { readonly kind: 'shut' };

export interface SealedTo {
  /** `host:port` of the submission request. */
  readonly key: string;
  /**
   * The method of the submission request. It is compared only for plain HTTP, because the proxy
   * does not see the methods inside a tunnel.
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
      // Lets the CORS preflight of the submission request pass, because a preflight carries no
      // application.
      if (method === 'OPTIONS' && seal.slot === 'free') return 'pass';
      if (method !== undefined && method !== seal.to.method) return 'hold';
      return seal.slot === 'free' ? 'take_slot' : 'hold';
  }
}
