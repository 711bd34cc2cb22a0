/** The arguments are complete, but the command was refused. The message says why. Exit code 1. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/**
 * Thrown if an argument or an option is missing, or if an option excludes a different option or an
 * argument. `svc listen` and `svc trigger` also throw it for other wrong usage. The message says
 * what to correct. Exit code 2.
 */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage';
}
