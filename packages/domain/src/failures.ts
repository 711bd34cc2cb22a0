/** The failure codes that a node may report (CONTRACT 5). */
export const nodeFailureCodes = [
  'ats_rejected',
  'confirmation_required',
  'posting_closed',
  'form_unsupported',
  'login_required',
  'captcha',
  'site_unreachable',
  'invalid_payload',
  'node_error',
] as const;
export type NodeFailureCode = (typeof nodeFailureCodes)[number];

export const serviceFailureCodes = ['node_lost', 'not_started', 'deadline_exceeded'] as const;
export type ServiceFailureCode = (typeof serviceFailureCodes)[number];

export type FailureCode = NodeFailureCode | ServiceFailureCode;
export const failureCodes: readonly FailureCode[] = [...nodeFailureCodes, ...serviceFailureCodes];

export interface FailureTraits {
  readonly retriable: boolean;
  /**
   * True if the node may have done the work anyway. The tenant must then check before it submits
   * again.
   */
  readonly outcomeUnknown: boolean;
}

const final: FailureTraits = { retriable: false, outcomeUnknown: false };
const retriable: FailureTraits = { retriable: true, outcomeUnknown: false };
const inDoubt: FailureTraits = { retriable: false, outcomeUnknown: true };

/**
 * The traits of each code, before and after `begin`. A node may not act before `begin`. Therefore
 * the outcome is never in doubt before `begin`.
 */
const traits: Record<
  FailureCode,
  { readonly unbegun: FailureTraits; readonly begun: FailureTraits }
> = {
  ats_rejected: { unbegun: final, begun: final },
  confirmation_required: { unbegun: final, begun: final },
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

/** The statements that a node may add to the code of its failure (CONTRACT 7). */
export interface FailureStatement {
  /** False only if the node knows that it submitted nothing. */
  readonly submitted?: boolean;
  /** False if the same job would fail again for the same reason. */
  readonly retriable?: boolean;
}

/**
 * Decides from a node's statement if its failure is retriable (CONTRACT 7, "Failures"). Null if the
 * statement does not count.
 */
export function statedRetriable(code: NodeFailureCode, stated: FailureStatement): boolean | null {
  if (code === 'node_error' && stated.submitted === false) return true;
  if (code === 'site_unreachable' && stated.retriable === false) return false;
  return null;
}

export interface FailureFacts {
  readonly code: FailureCode;
  /** True if `running` was committed, so the node may have acted. */
  readonly begun: boolean;
  readonly statedRetriable: boolean | null;
}

/** Returns `retriable` and `outcomeUnknown` as the tenant sees them (CONTRACT 5). */
export function failureTraits({
  code,
  begun,
  statedRetriable: stated,
}: FailureFacts): FailureTraits {
  const byCode = begun ? traits[code].begun : traits[code].unbegun;
  if (stated === null) return byCode;
  return { retriable: stated, outcomeUnknown: byCode.outcomeUnknown && !stated };
}
