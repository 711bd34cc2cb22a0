/** The command was understood and refused; its message says what to do next. Exit code 1. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}
