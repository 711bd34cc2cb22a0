import { isIP } from 'node:net';
import { isPublicHost } from '@svc/domain';

export interface Destination {
  /** As `URL.hostname` writes it: lower case, IPv6 in brackets. */
  readonly host: string;
  readonly port: number;
}

/**
 * An address that the node owner sets with `--map-host`. The address may be private, and any port
 * is allowed.
 */
interface MappedAddress {
  readonly address: string;
  readonly port: number;
}

/** Keys are `name:port`, as `destinationKey` writes them. */
export type HostMap = ReadonlyMap<string, MappedAddress>;

/**
 * How the proxy treats a destination, judged by its text. A destination of the kind `address` or
 * `name` can still be refused by its addresses (`AddressRule`).
 */
export type Route =
  | { readonly kind: 'mapped'; readonly address: string; readonly port: number }
  | { readonly kind: 'address'; readonly address: string; readonly port: number }
  | { readonly kind: 'name'; readonly name: string; readonly port: number }
  | { readonly kind: 'refused' };

const authorityForm = /^(\[[0-9a-f:.]{2,45}\]|[^\s:/\\?#@[\]]{1,253}):([0-9]{1,5})$/i;
const portMax = 65_535;
const allowedPorts: readonly number[] = [80, 443];
const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

export function destinationKey({ host, port }: Destination): string {
  return `${host}:${port}`;
}

export function readAuthority(text: string): Destination | undefined {
  const [, name = '', digits = ''] = authorityForm.exec(text) ?? [];
  const port = Number(digits);
  if (name === '' || port === 0 || port > portMax) return undefined;
  try {
    return { host: new URL(`http://${name}/`).hostname, port };
  } catch {
    return undefined;
  }
}

export function readDestination(url: string): Destination | undefined {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return undefined;
  }
  const defaultPort = defaultPorts[parsed.protocol];
  if (defaultPort === undefined || parsed.hostname === '') return undefined;
  return {
    host: parsed.hostname,
    port: parsed.port === '' ? defaultPort : Number(parsed.port),
  };
}

/**
 * Judges a destination by its text (CONTRACT 10). A mapped destination passes. Any other one must
 * be a public host on port 80 or 443.
 */
export function routeOf(destination: Destination, hostMap: HostMap): Route {
  const { host, port } = destination;
  const mapped = hostMap.get(destinationKey(destination));
  if (mapped !== undefined) return { kind: 'mapped', ...mapped };
  if (!allowedPorts.includes(port) || !isPublicHost(host)) return { kind: 'refused' };
  const bare = host.replace(/^\[|\]$/g, '');
  if (isIP(bare) !== 0) return { kind: 'address', address: bare, port };
  return { kind: 'name', name: host, port };
}
