/**
 * A reason not to start that the person at the keyboard can do something about: `message` says
 * what is wrong, `advice` what to do.
 */
export class StartError extends Error {
  override readonly name = 'StartError';
  readonly advice: string;

  constructor(message: string, advice: string, options?: ErrorOptions) {
    super(message, options);
    this.advice = advice;
  }
}
