import { explainRefusal } from '../link-refusal.ts';
import { isPlainBeyondLoopback, notEncrypted } from '../option-values.ts';
import type { NodeOptions } from '../options.ts';
import { askLink, type LinkAnswer } from './ask-link.ts';
import { type Finding, fail, pass } from './finding.ts';

/** A request that is signed correctly but does not ask for a WebSocket gets this status. */
const signedStatus = 400;
/**
 * The service refuses a signature if its clock and the clock of the node differ by more than this
 * (CONTRACT 1).
 */
const clockSecondsMax = 300;

const unreachable: Readonly<Record<string, string>> = {
  ENOTFOUND: 'The host name in --link has no address. Check --link and the name server.',
  EAI_AGAIN: 'The name server gives no usable answer. Check the network.',
  ECONNREFUSED:
    'Nothing listens at the address in --link. Check --link. If it is right, ask the operator.',
  ETIMEDOUT: 'No answer came within 10 s. Check --link, the network and the firewall.',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'The certificate of the service is not for the host name in --link. Check --link.',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'The certificate of the service is not from a known authority. Check --link.',
  EPROTO:
    'The TLS handshake failed. Perhaps the address in --link does not speak TLS. Check --link.',
};

const notReached = 'Not checked, because the service cannot be reached.';

function linkFinding(link: string, answer: LinkAnswer): Finding {
  if (answer.kind === 'unreachable') {
    const advice =
      unreachable[answer.code] ??
      `The service cannot be reached (${answer.code}). Check --link and the network.`;
    return fail('link', advice);
  }
  if (answer.status === signedStatus || answer.status === 401) {
    return pass('link', `${link} answers.`);
  }
  return fail('link', explainRefusal(answer));
}

function secretFinding(answer: LinkAnswer): Finding {
  if (answer.kind === 'unreachable') return fail('secret', notReached);
  return answer.status === signedStatus
    ? pass('secret', 'The service accepts the id and the secret.')
    : fail('secret', explainRefusal(answer));
}

function clockFinding(answer: LinkAnswer): Finding {
  const { aheadSeconds } = answer.kind === 'answered' ? answer : {};
  if (aheadSeconds === undefined)
    return fail(
      'clock',
      answer.kind === 'unreachable'
        ? notReached
        : 'Not checked, because the answer of the service has no date. Check the clock yourself.',
    );
  const off = `${Math.abs(aheadSeconds)} s ${aheadSeconds < 0 ? 'behind' : 'ahead of'} the service`;
  return Math.abs(aheadSeconds) > clockSecondsMax
    ? fail('clock', `The clock is ${off}. Set it (on Linux: sudo timedatectl set-ntp true).`)
    : pass('clock', `The clock is ${off}.`);
}

/**
 * Checks the link, the secret and the clock. Sends unencrypted requests to another machine only if
 * the option `--insecure` allows it.
 */
export async function checkLink(options: NodeOptions, nowMs: () => number): Promise<Finding[]> {
  const { link, id, secret, isInsecure } = options;
  if (link === undefined) {
    const missing = 'Give --link, or set SVC_NODE_LINK.';
    return [fail('link', missing), ...['secret', 'clock'].map((name) => fail(name, missing))];
  }
  if (!isInsecure && isPlainBeyondLoopback(link)) {
    const unchecked = 'Not checked, because the link is not encrypted.';
    return [
      fail('link', notEncrypted),
      ...['secret', 'clock'].map((name) => fail(name, unchecked)),
    ];
  }
  const answer = await askLink({ link, id, secret, nowMs });
  const credentials =
    id === undefined || secret === undefined
      ? fail('secret', 'The id or the secret is missing. Give --id, and set SVC_NODE_SECRET.')
      : secretFinding(answer);
  return [linkFinding(link, answer), credentials, clockFinding(answer)];
}
