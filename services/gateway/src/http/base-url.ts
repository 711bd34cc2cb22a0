const host = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?$/;

/**
 * The base URL at which the client reached the service. An invalid host becomes `localhost`,
 * because pages show this URL in shell commands that readers copy.
 */
export function baseUrlOf(request: {
  readonly isTls: boolean;
  readonly host: string | undefined;
}): string {
  const { host: asked = '', isTls } = request;
  return `${isTls ? 'https' : 'http'}://${host.test(asked) ? asked : 'localhost'}`;
}
