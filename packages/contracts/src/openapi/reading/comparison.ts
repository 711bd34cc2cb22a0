/** Two documents and the breaking changes found between them. */
export interface Comparison {
  readonly frozen: unknown;
  readonly present: unknown;
  readonly found: string[];
}

/**
 * `request`: every value that was accepted must still be accepted. `response`: no value may be sent
 * that could not be sent before, except for new members.
 */
export type Direction = 'request' | 'response';
