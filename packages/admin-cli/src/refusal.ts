/** The command was understood and refused; its message says what to do next. Exit code 1. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** The words cannot be meant together; the message says which ones can. Exit code 2. */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage';
}
