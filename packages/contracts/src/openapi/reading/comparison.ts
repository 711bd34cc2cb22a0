export interface Comparison {
  readonly frozen: unknown;
  readonly present: unknown;
  readonly found: string[];
}

/**
 * A `request` must accept each value that it accepted before. A `response` must keep each member,
 * and may have new ones.
 */
export type Direction = 'request' | 'response';
