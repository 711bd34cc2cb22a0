import { AnswerOverdue } from './errors.ts';

export interface Call<Input, Output> {
  readonly input: Input;
  readonly answer: Promise<Output>;
  readonly resolve: (output: Output) => void;
  readonly reject: (error: unknown) => void;
  /** Resolves as soon as the call is answered or rejected. Never rejects. */
  readonly answered: Promise<void>;
  isAnswered: boolean;
}

export function createCall<Input, Output>(input: Input, answerMsMax: number): Call<Input, Output> {
  const { promise: answer, resolve, reject } = Promise.withResolvers<Output>();
  const timer = setTimeout(() => reject(new AnswerOverdue(answerMsMax)), answerMsMax);
  const end = (): void => {
    clearTimeout(timer);
    call.isAnswered = true;
  };
  const answered = answer.then(end, end);
  const call = { input, answer, resolve, reject, answered, isAnswered: false };
  return call;
}

export function openCalls<Input, Output>(
  calls: readonly Call<Input, Output>[],
): Call<Input, Output>[] {
  return calls.filter(({ isAnswered }) => !isAnswered);
}

/**
 * Resolves or rejects as `asked` does. Rejects with `AnswerOverdue` if `asked` takes longer than
 * `answerMsMax`.
 */
export function answeredWithin<Output>(
  answerMsMax: number,
  asked: Promise<Output>,
): Promise<Output> {
  const call = createCall<undefined, Output>(undefined, answerMsMax);
  asked.then(call.resolve, call.reject);
  return call.answer;
}
