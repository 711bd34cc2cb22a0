/** Thrown if an invariant is broken. The cause is a defect of the service, not a wrong request. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/**
 * Throws InvariantError if `condition` is false (docs/STYLE.md 2). `message` says what must be true.
 */
export function assertInvariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InvariantError(`broken invariant: ${message}`);
}

/**
 * The default branch of an exhaustive switch: the compiler reports a missing case. Throws
 * InvariantError if a value reaches this branch at run time.
 */
export function assertNever(value: never): never {
  throw new InvariantError(`a switch does not handle a value of the type ${typeof value}`);
}
