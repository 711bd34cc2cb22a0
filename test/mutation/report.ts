import type { Mutant } from './mutant.ts';
import type { Room } from './rooms.ts';
import type { Judged } from './run/run.ts';

export interface RoomScore {
  readonly room: Room;
  readonly killed: number;
  /** The number of mutants with the verdict `timeout`. `killed` includes them. */
  readonly timeouts: number;
  readonly survived: number;
  /**
   * The number of mutants with the verdict `unclear`: the machine may have caused the failure
   * instead of the mutant. They count as not killed.
   */
  readonly unclear: number;
  readonly equivalent: number;
  /**
   * The killed mutants, in percent of the mutants that are not equivalent. 100 if all mutants are
   * equivalent.
   */
  readonly percent: number;
}

/**
 * `struck` is the number of chosen mutants of `room` that did not run, because they are known to be
 * equivalent.
 */
export function scoreOf(room: Room, judged: readonly Judged[], struck: number): RoomScore {
  const own = judged.filter((one) => one.room === room);
  const count = (kind: string) => own.filter(({ verdict }) => verdict.kind === kind).length;
  const timeouts = count('timeout');
  const killed = count('killed') + timeouts;
  const survived = count('survived');
  const unclear = count('unclear');
  const equivalent = struck + count('same_schema');
  const judgedCount = killed + survived + unclear;
  const percent = judgedCount === 0 ? 100 : (100 * killed) / judgedCount;
  return { room, killed, timeouts, survived, unclear, equivalent, percent };
}

export function meetsGoal({ percent, room }: RoomScore): boolean {
  return percent >= room.goal;
}

const shownCharacters = 160;

function shown(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > shownCharacters ? `${line.slice(0, shownCharacters)}…` : line;
}

export function describeMutant({ id, file, line, kind, scope, before, after }: Mutant): string {
  return `${id} ${kind} ${file}:${line} (${scope})\n    ${shown(before)} → ${shown(after) || '(nothing)'}`;
}

export function reportOf(scores: readonly RoomScore[], judged: readonly Judged[]): string {
  const rows = scores.map((score) => {
    const { room, killed, timeouts, survived, unclear, equivalent, percent } = score;
    const counts = [killed, timeouts, survived, unclear, equivalent];
    const cells = [...counts, `${percent.toFixed(1)} %`, `${room.goal} %`];
    return `| ${[room.name, ...cells].join(' | ')} |`;
  });
  const survivors = judged
    .filter(({ verdict }) => verdict.kind === 'survived' || verdict.kind === 'unclear')
    .map(({ room, mutant, verdict }) => `${room.name} ${verdict.kind} ${describeMutant(mutant)}`)
    .toSorted();
  return [
    '| room | killed | of these by timeout | survived | unclear | equivalent | score | goal |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
    survivors.length === 0 ? 'No mutant survived.' : `Survivors:\n${survivors.join('\n')}`,
    '',
    verdictOf(scores),
    '',
  ].join('\n');
}

function verdictOf(scores: readonly RoomScore[]): string {
  const sum = (member: 'killed' | 'survived' | 'unclear' | 'equivalent') =>
    scores.reduce((total, score) => total + score[member], 0);
  const missed = scores.filter((score) => !meetsGoal(score)).map(({ room }) => room.name);
  const goals = missed.length === 0 ? 'goals met' : `goals missed in ${missed.join(', ')}`;
  return `mutate: ${sum('killed')} killed, ${sum('survived')} survived, ${sum('unclear')} unclear, ${sum('equivalent')} equivalent; ${goals}`;
}
