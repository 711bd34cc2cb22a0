import type { Failure } from './executor.ts';

/**
 * What a tenant asks of a simulated node beside `atsType`, in `jobContext.sandbox` of its payload
 * (docs/SANDBOX.md). What is not understood is as if it were not there: the contract lets
 * `jobContext` have any members.
 */
export interface SandboxWishes {
  /** What `sandbox.fail` fails with. */
  readonly failure: Failure['code'];
  /** Actions to be metered, in place of plausible ones. */
  readonly actions: number | undefined;
  /** Completes where it was cancelled: a late outcome. */
  readonly ignoresCancel: boolean;
}

/** What a simulated node says of each failure. */
export const failureMessages: Readonly<Record<Failure['code'], string>> = {
  ats_rejected: 'The simulated system rejected the application.',
  posting_closed: 'The simulated posting is closed.',
  form_unsupported: 'The simulated form is of a kind that the node cannot fill in.',
  login_required: 'The simulated system asked for a login.',
  captcha: 'The simulated system asked for a captcha.',
  site_unreachable: 'The simulated site did not answer.',
  invalid_payload: 'The simulated system did not take what was filled in.',
  node_error: 'The simulated node broke down.',
};

/** As many as fit into the run limit of every tier at the pace that the service allows. */
const actionsMax = 10_000;

export function wishesOf(payload: unknown): SandboxWishes {
  const wishes = memberOf(memberOf(payload, 'jobContext'), 'sandbox');
  const failure = memberOf(wishes, 'failure');
  const actions = memberOf(wishes, 'actions');
  const isCount =
    Number.isInteger(actions) && Number(actions) >= 0 && Number(actions) <= actionsMax;
  return {
    failure: isFailureCode(failure) ? failure : 'ats_rejected',
    actions: isCount ? Number(actions) : undefined,
    ignoresCancel: memberOf(wishes, 'ignoresCancel') === true,
  };
}

function isFailureCode(value: unknown): value is Failure['code'] {
  return typeof value === 'string' && Object.hasOwn(failureMessages, value);
}

function memberOf(value: unknown, name: string): unknown {
  return new Map<string, unknown>(Object.entries(value ?? {})).get(name);
}
