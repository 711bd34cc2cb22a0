/** The arguments are complete, but the command was refused. The message says why. Exit code 1. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/**
 * Thrown if the arguments are incomplete or contradict each other. The message says which arguments
 * to give. Exit code 2.
 */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage';
}
