export interface LinkRefusal {
  readonly status: number;
  /**
   * The start of the body of the HTTP answer. If the service sent the answer, the body is a
   * problem document.
   */
  readonly body: string;
}

/**
 * The node stops reading the body of a refusal after about this many bytes. A problem document is
 * shorter.
 */
export const refusalBytesMax = 16 * 1024;

const clockDetail = /X-SVC-Timestamp is (\d+) s (ahead of|behind)/;

function detailOf(body: string): string {
  try {
    const { detail }: { detail?: unknown } = Object(JSON.parse(body));
    return typeof detail === 'string' ? detail : '';
  } catch {
    return '';
  }
}

export function explainRefusal({ status, body }: LinkRefusal): string {
  const detail = detailOf(body);
  const [, seconds, direction] = clockDetail.exec(detail) ?? [];
  if (seconds !== undefined && direction !== undefined) {
    return `The clock of this machine is ${seconds} s ${direction} the service. Set it (on Linux: sudo timedatectl set-ntp true).`;
  }
  if (status === 401) {
    return 'The id or the secret is wrong, or an operator has disabled the node. Check both values. If they are right, ask the operator.';
  }
  if (status === 404) {
    return 'The server at the address in --link does not accept nodes. Check --link.';
  }
  if (status === 421) {
    return 'The link reached the service without TLS. Use a wss:// address. If that fails, ask the operator.';
  }
  if (status === 429) {
    return 'Many links from this IP address were refused, so the service refuses this one too. Wait a minute.';
  }
  if (status >= 500) return 'The service is unavailable now. If it stays so, ask the operator.';
  return `The service refused the link with status ${status}. ${detail}`.trim();
}
