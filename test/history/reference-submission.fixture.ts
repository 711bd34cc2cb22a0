import type { CreateOutcome, Status } from './history.ts';

export const holdMicros = 10n;

export interface Modelled {
  readonly id: string;
  readonly key: string;
  readonly body: string;
  readonly availableAfterMicros: bigint;
  state: Status;
  /**
   * The begin times, in ms, of the requests that wait until the submission leaves `pending`. The
   * first request is the one that created the submission.
   */
  waiting: number[];
  chargedMicros: bigint | null;
}

export function createdOf(one: Modelled, isReplay: boolean): CreateOutcome {
  return {
    kind: 'created',
    isReplay,
    submissionId: one.id,
    answer: one.id,
    availableAfterMicros: one.availableAfterMicros,
    heldMicros: holdMicros,
  };
}
