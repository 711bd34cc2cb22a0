export interface Comparison {
  readonly frozen: unknown;
  readonly present: unknown;
  readonly found: string[];
}

/**
 * `request`: every value that was accepted must still be accepted. `response`: answers may get new
 * members, but an old member must not get values that it could not have before.
 */
export type Direction = 'request' | 'response';
