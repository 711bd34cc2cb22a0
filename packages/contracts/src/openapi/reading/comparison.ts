export interface Comparison {
  readonly frozen: unknown;
  readonly present: unknown;
  readonly found: string[];
}

/**
 * `request`: every value that was accepted must still be accepted. `response`: every old member
 * must stay, and new members may be added. An old member may get new values only if its list of
 * values is open or its name is in `growingMembers`.
 */
export type Direction = 'request' | 'response';
