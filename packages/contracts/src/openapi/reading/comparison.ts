export interface Comparison {
  readonly frozen: unknown;
  readonly present: unknown;
  readonly found: string[];
}

/**
 * `request`: every value that was accepted must still be accepted. `response`: answers may get new
 * members. An old member must stay, and must not get values that it could not have before. Only
 * open lists of values and the members in `growingMembers` may get new values.
 */
export type Direction = 'request' | 'response';
