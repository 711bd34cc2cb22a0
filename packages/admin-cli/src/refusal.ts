/** The arguments are complete, but the command was refused. The message says why. Exit code 1. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/**
 * Thrown for wrong usage that Commander does not find, such as two options that exclude each other.
 * The message says what to correct. Exit code 2.
 */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage';
}
