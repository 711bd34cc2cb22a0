/**
 * Inside there are two states more than on the wire: `settling` (an outcome is stored, its money
 * not yet moved; the wire still says `running`) and `rejected` (a creation that ended in an error;
 * no tenant sees it, and its key is free again).
 */
export const submissionStates = [
  'pending',
  'dispatched',
  'running',
  'settling',
  'submitted',
  'failed',
  'cancelled',
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
 * CONTRACT 3, 5 and 7. What is not listed is refused: above all, nothing
 * leads back to `pending`, so nothing is ever offered again once it is dispatched.
 */
const transitions: Record<SubmissionState, Partial<Record<SubmissionTrigger, SubmissionState>>> = {
  pending: { dispatch: 'dispatched', cancel: 'cancelled', reject: 'rejected' },
  dispatched: { begin: 'running', store_outcome: 'settling', cancel: 'cancelled' },
  running: { store_outcome: 'settling', cancel: 'cancelled' },
  settling: { settle_completed: 'submitted', settle_failed: 'failed' },
  submitted: {},
  failed: {},
  cancelled: {},
  rejected: {},
};

/** States that nothing leads out of. */
export const terminalStates = ['submitted', 'failed', 'cancelled', 'rejected'] as const;

export function isTerminal(state: SubmissionState): boolean {
  return (terminalStates as readonly SubmissionState[]).includes(state);
}

export type Transition =
  | { readonly kind: 'moved'; readonly to: SubmissionState }
  | { readonly kind: 'refused' };

/** Where a trigger leads from a state, or that it leads nowhere. */
export function transition(state: SubmissionState, trigger: SubmissionTrigger): Transition {
  const to = transitions[state][trigger];
  return to === undefined ? { kind: 'refused' } : { kind: 'moved', to };
}

/** The status a tenant is shown (CONTRACT 5); null: the submission is none for a tenant. */
export function wireStatus(state: SubmissionState): WireStatus | null {
  if (state === 'rejected') return null;
  return state === 'settling' ? 'running' : state;
}
