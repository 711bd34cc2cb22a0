/** Why a submission failed, reported by its node (CONTRACT 5). */
export const nodeFailureCodes = [
  'ats_rejected',
  'posting_closed',
  'form_unsupported',
  'login_required',
  'captcha',
  'site_unreachable',
  'invalid_payload',
  'node_error',
] as const;
export type NodeFailureCode = (typeof nodeFailureCodes)[number];

/** Why a submission failed, decided by the service. */
export const serviceFailureCodes = ['node_lost', 'not_started', 'deadline_exceeded'] as const;
export type ServiceFailureCode = (typeof serviceFailureCodes)[number];

export type FailureCode = NodeFailureCode | ServiceFailureCode;
export const failureCodes: readonly FailureCode[] = [...nodeFailureCodes, ...serviceFailureCodes];

export interface FailureTraits {
  readonly retriable: boolean;
  /** The node may have done the work anyway. The tenant must check before it submits again. */
  readonly outcomeUnknown: boolean;
}

const final: FailureTraits = { retriable: false, outcomeUnknown: false };
const retriable: FailureTraits = { retriable: true, outcomeUnknown: false };
const inDoubt: FailureTraits = { retriable: false, outcomeUnknown: true };

/** A node may not act before `begin`, so its work is not in doubt then. */
const traits: Record<
  FailureCode,
  { readonly unbegun: FailureTraits; readonly begun: FailureTraits }
> = {
  ats_rejected: { unbegun: final, begun: final },
  posting_closed: { unbegun: final, begun: final },
  form_unsupported: { unbegun: final, begun: final },
  login_required: { unbegun: final, begun: final },
  captcha: { unbegun: final, begun: final },
  site_unreachable: { unbegun: retriable, begun: retriable },
  invalid_payload: { unbegun: final, begun: final },
  node_error: { unbegun: retriable, begun: inDoubt },
  node_lost: { unbegun: final, begun: inDoubt },
  not_started: { unbegun: retriable, begun: retriable },
  deadline_exceeded: { unbegun: final, begun: inDoubt },
};

/**
 * The conclusions that a tenant may draw from a failure (CONTRACT 5). `begun`: `begin` was
 * committed.
 */
export function failureTraits(code: FailureCode, begun: boolean): FailureTraits {
  return begun ? traits[code].begun : traits[code].unbegun;
}
