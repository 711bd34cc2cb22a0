import type { Failure } from '../../executor.ts';

/**
 * The options in `jobContext.sandbox` of the payload (docs/SANDBOX.md). Unknown values are ignored,
 * because the contract lets `jobContext` have any members.
 */
export interface SandboxOptions {
  /** The failure code of `sandbox.fail`. It is `ats_rejected` if the tenant names no known code. */
  readonly failure: Failure['code'];
  /** The number of actions to meter. Undefined: the executor chooses a plausible number. */
  readonly actions: number | undefined;
  /**
   * True if a cancelled run completes anyway, which causes a late outcome. `sandbox.fail` and
   * `sandbox.lost` never complete, so this option does not affect them.
   */
  readonly ignoresCancel: boolean;
}

export const failureMessages: Readonly<Record<Failure['code'], string>> = {
  ats_rejected: 'The simulated system rejected the application.',
  confirmation_required: 'The simulated system asks the applicant to confirm by e-mail.',
  posting_closed: 'The simulated posting is closed.',
  form_unsupported: 'The node cannot fill in this simulated form.',
  login_required: 'The simulated system asked for a login.',
  captcha: 'The simulated system showed a captcha.',
  site_unreachable: 'The simulated site did not answer.',
  invalid_payload: 'The simulated system did not accept the values of the form.',
  node_error: 'The simulated node failed.',
};

/**
 * The most actions that a tenant can choose. The cap (CONTRACT 7) allows them after 198 s of the
 * run, which is less than every run limit.
 */
const actionsMax = 10_000;

export function sandboxOptionsOf(payload: unknown): SandboxOptions {
  const options = memberOf(memberOf(payload, 'jobContext'), 'sandbox');
  const failure = memberOf(options, 'failure');
  const actions = memberOf(options, 'actions');
  const isCount =
    Number.isInteger(actions) && Number(actions) >= 0 && Number(actions) <= actionsMax;
  return {
    failure: isFailureCode(failure) ? failure : 'ats_rejected',
    actions: isCount ? Number(actions) : undefined,
    ignoresCancel: memberOf(options, 'ignoresCancel') === true,
  };
}

function isFailureCode(value: unknown): value is Failure['code'] {
  return typeof value === 'string' && Object.hasOwn(failureMessages, value);
}

function memberOf(value: unknown, name: string): unknown {
  return new Map<string, unknown>(Object.entries(value ?? {})).get(name);
}
