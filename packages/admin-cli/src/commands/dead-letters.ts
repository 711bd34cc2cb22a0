import { toWireId } from '@svc/domain';
import type { DeadLetter, DeadLetters } from '@svc/store';
import { shortDuration } from '../durations.ts';
import { bold, dim, green, red } from '../output.ts';
import { tableLines } from '../table.ts';

const idOf = ({ reconciler, subjectId }: DeadLetter): string =>
  toWireId(reconciler === 'webhook' ? 'dlv' : 'sub', subjectId);

export function deadLettersRecord({ count, retrying, listed }: DeadLetters): object {
  return {
    count,
    retrying,
    listed: listed.map((letter) => {
      const { reconciler, kind, failures, firstFailedAt, lastFailedAt, nextAttemptAt } = letter;
      const times = { firstFailedAt, lastFailedAt, nextAttemptAt };
      return { id: idOf(letter), reconciler, kind, failures, ...times, error: letter.error };
    }),
  };
}

export function deadLetterLines(
  { count, retrying, listed }: DeadLetters,
  now: Date,
  widthMax?: number,
): string[] {
  const retried =
    retrying === 0
      ? ''
      : dim(
          `  rows that a reconciler could not repair, but that are not dead letters yet: ${retrying}`,
        );
  if (count === 0) return [`${bold('dead letters')}  ${green('none')}${retried}`];
  const since = (time: Date): string => shortDuration(Math.abs(now.getTime() - time.getTime()));
  const rows = listed.map((letter) => [
    idOf(letter),
    letter.kind,
    String(letter.failures),
    since(letter.firstFailedAt),
    letter.nextAttemptAt <= now ? 'now' : since(letter.nextAttemptAt),
    letter.error,
  ]);
  const head = ['dead letter', 'what', 'failures', 'since', 'next in', 'error'];
  const [first = '', ...lines] = tableLines(head, rows, widthMax);
  const more = count - listed.length;
  return [
    `${bold('dead letters')}  ${red(String(count))}${retried}`,
    dim(first),
    ...lines,
    ...(more === 0 ? [] : [`and ${more} more`]),
  ];
}
