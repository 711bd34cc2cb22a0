import type { Unanswered } from '@svc/solana';

/** The RPC server did not answer usefully. The watcher backs off and changes nothing. */
export class RpcUnavailable extends Error {
  override readonly name = 'RpcUnavailable';
  readonly retryAfterMs: number;

  constructor(outcome: Unanswered) {
    super(`the RPC server: ${outcome.reason}`);
    this.retryAfterMs = outcome.kind === 'busy' ? outcome.retryAfterMs : 0;
  }
}

/** Returns the outcome of an answered call. Throws `RpcUnavailable` for any other. */
export function answered<Outcome extends { readonly kind: string }>(
  outcome: Outcome | Unanswered,
): Outcome {
  if (isUnanswered(outcome)) throw new RpcUnavailable(outcome);
  return outcome;
}

function isUnanswered(outcome: { readonly kind: string }): outcome is Unanswered {
  return outcome.kind === 'busy' || outcome.kind === 'failed' || outcome.kind === 'refused';
}
