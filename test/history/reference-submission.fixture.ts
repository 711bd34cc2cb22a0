import type { CreateOutcome, Status } from './history.ts';

export const holdMicros = 10n;

/** A submission as the reference model keeps it. */
export interface Modelled {
  readonly id: string;
  readonly key: string;
  readonly body: string;
  readonly availableAfterMicros: bigint;
  state: Status;
  /** The begins of the requests that wait for a node; the first one is the creator's. */
  waiting: number[];
  chargedMicros: bigint | null;
}

/** The answer to the creation of this submission. */
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
