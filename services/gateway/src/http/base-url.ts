const host = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?$/;

/**
 * Where this client reached the service, to be shown to it again, also in a command to paste: what
 * a proxy says counts where it is trusted, and a host that is none is not repeated.
 */
export function baseUrlOf(request: {
  readonly protocol: string;
  readonly host: string | undefined;
}): string {
  const { host: asked = '' } = request;
  const scheme = request.protocol === 'https' ? 'https' : 'http';
  return `${scheme}://${host.test(asked) ? asked : 'localhost'}`;
}
