/** Thrown if an invariant is broken. It is a defect of the service, never an answer to a tenant. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/** Throws InvariantError if `condition` is false (docs/STYLE.md 2). */
export function assertInvariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

/** The default of an exhaustive switch. The compiler reports a missing case. */
export function assertNever(value: never): never {
  throw new InvariantError(`unexpected ${typeof value}`);
}
