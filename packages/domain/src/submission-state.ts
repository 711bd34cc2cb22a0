export const submissionStates = [
  'pending',
  'dispatched',
  'running',
  // An outcome is stored, but its money has not moved. Tenants see `running`.
  'settling',
  'submitted',
  'failed',
  'cancelled',
  // The creation ended in an error. Tenants do not see it, and its idempotency key is free again.
  'rejected',
] as const;
export type SubmissionState = (typeof submissionStates)[number];

export const wireStatuses = [
  'pending',
  'dispatched',
  'running',
  'submitted',
  'failed',
  'cancelled',
] as const;
export type WireStatus = (typeof wireStatuses)[number];

export const submissionTriggers = [
  'dispatch',
  'begin',
  'store_outcome',
  'settle_completed',
  'settle_failed',
  'cancel',
  'reject',
] as const;
export type SubmissionTrigger = (typeof submissionTriggers)[number];

/**
 * All transitions (CONTRACT 3 and 7), except `pending` to `running` in a recovery. No transition
 * leads to `pending`, so a dispatched submission is never offered again.
 */
export const transitions = {
  dispatch: { from: ['pending'], to: 'dispatched' },
  begin: { from: ['dispatched'], to: 'running' },
  store_outcome: { from: ['dispatched', 'running'], to: 'settling' },
  settle_completed: { from: ['settling'], to: 'submitted' },
  settle_failed: { from: ['settling'], to: 'failed' },
  cancel: { from: ['pending', 'dispatched', 'running'], to: 'cancelled' },
  reject: { from: ['pending'], to: 'rejected' },
} as const satisfies Record<
  SubmissionTrigger,
  { readonly from: readonly SubmissionState[]; readonly to: SubmissionState }
>;

export const firstState = 'pending' satisfies SubmissionState;

export const terminalStates = ['submitted', 'failed', 'cancelled', 'rejected'] as const;

export function isTerminal(state: SubmissionState): boolean {
  return (terminalStates as readonly SubmissionState[]).includes(state);
}

export type Transition =
  | { readonly kind: 'moved'; readonly to: SubmissionState }
  | { readonly kind: 'refused' };

export function transition(state: SubmissionState, trigger: SubmissionTrigger): Transition {
  const { from, to }: { from: readonly SubmissionState[]; to: SubmissionState } =
    transitions[trigger];
  return from.includes(state) ? { kind: 'moved', to } : { kind: 'refused' };
}

/** The status that a tenant sees (CONTRACT 5). Null if tenants do not see the submission. */
export function wireStatus(state: SubmissionState): WireStatus | null {
  if (state === 'rejected') return null;
  return state === 'settling' ? 'running' : state;
}
