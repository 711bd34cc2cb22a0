/**
 * A program cannot start, for a reason that the user can fix. `message` says what is wrong, and
 * `advice` what to do.
 */
export class StartError extends Error {
  override readonly name = 'StartError';
  readonly advice: string;

  constructor(message: string, advice: string, options?: ErrorOptions) {
    super(message, options);
    this.advice = advice;
  }
}
