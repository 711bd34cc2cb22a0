/** Thrown where an invariant is broken: a defect of ours, never an answer to a tenant. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/** Stops the work at hand where `condition` does not hold (docs/STYLE.md 2). */
export function assertInvariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

/** The default of an exhaustive switch: the compiler refuses a case that was forgotten. */
export function assertNever(value: never): never {
  throw new InvariantError(`unexpected ${typeof value}`);
}
