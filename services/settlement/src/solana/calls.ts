import type { Unanswered } from '@svc/solana';

/**
 * Thrown if the RPC server is busy, fails or refuses a call. The watcher then makes no call for at
 * least `retryAfterMs`.
 */
export class RpcUnavailable extends Error {
  override readonly name = 'RpcUnavailable';
  readonly retryAfterMs: number;

  constructor(outcome: Unanswered) {
    super(`a call to the RPC server failed: ${outcome.reason}`);
    this.retryAfterMs = outcome.kind === 'busy' ? outcome.retryAfterMs : 0;
  }
}

/** Throws `RpcUnavailable` if the server was busy, failed or refused the call. */
export function answered<Outcome extends { readonly kind: string }>(
  outcome: Outcome | Unanswered,
): Outcome {
  if (isUnanswered(outcome)) throw new RpcUnavailable(outcome);
  return outcome;
}

function isUnanswered(outcome: { readonly kind: string }): outcome is Unanswered {
  return outcome.kind === 'busy' || outcome.kind === 'failed' || outcome.kind === 'refused';
}
