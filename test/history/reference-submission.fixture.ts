import type { CreateOutcome, Status } from './history.ts';

export const holdMicros = 10n;

export interface Modelled {
  readonly id: string;
  readonly key: string;
  readonly body: string;
  readonly availableAfterMicros: bigint;
  state: Status;
  /**
   * The times at which the requests that wait for a node began, in ms. The first request is the
   * creator's.
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
