const host = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?$/;

/**
 * The base URL at which the client of `request` reached the service. Pages show this URL, also in
 * shell commands that a reader copies. An invalid host becomes `localhost`, because a host could
 * otherwise inject something into a command. Forwarded values count only if they come from a
 * trusted proxy.
 */
export function baseUrlOf(request: {
  readonly protocol: string;
  readonly host: string | undefined;
}): string {
  const { host: asked = '' } = request;
  const scheme = request.protocol === 'https' ? 'https' : 'http';
  return `${scheme}://${host.test(asked) ? asked : 'localhost'}`;
}
