const host = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?$/;

/**
 * The base URL at which this client reached the service. Pages show it, also in commands to paste
 * into a shell. Forwarded values count only from a trusted proxy. An invalid host becomes
 * `localhost`, so that it cannot inject anything into such a command.
 */
export function baseUrlOf(request: {
  readonly protocol: string;
  readonly host: string | undefined;
}): string {
  const { host: asked = '' } = request;
  const scheme = request.protocol === 'https' ? 'https' : 'http';
  return `${scheme}://${host.test(asked) ? asked : 'localhost'}`;
}
