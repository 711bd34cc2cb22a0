import { isIPv6, SocketAddress } from 'node:net';

/**
 * Writes an IP address in its shortest form, without a zone. An IPv4 address that is mapped to IPv6
 * becomes IPv4. Returns any other text unchanged.
 */
export function plainAddress(text: string): string {
  if (!isIPv6(text)) return text;
  const { address } = new SocketAddress({ address: text, family: 'ipv6' });
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1] ?? address;
}

/**
 * Returns the group of a client address. The addresses of a group share their limits (CONTRACT 1).
 * A group of IPv6 addresses is a /64, because one home or host owns a whole /64.
 */
export function addressGroup(ip: string | undefined): string {
  if (ip === undefined) return 'unknown';
  const address = plainAddress(ip);
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(8 - before.length - after.length, 0) }, () => '0');
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`;
}
