/**
 * The channel of `node:diagnostics_channel` on which the store reports an SQL statement or a
 * transaction that several submissions shared.
 */
export const sharedStatements = 'svc.shared-statements';

/** A message on the channel `sharedStatements`. The submission ids are UUIDs. */
export interface SharedStatement {
  readonly intent: 'hold' | 'begin' | 'outcome' | 'settle';
  readonly submissionIds: readonly string[];
  readonly durationMs: number;
}
