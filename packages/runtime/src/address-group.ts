import { isIPv6 } from 'node:net';

/**
 * What limits by address go by. One home or host has a whole /64 of IPv6 addresses, so those count
 * as one; an IPv4 address in IPv6 notation is that IPv4 address.
 */
export function addressGroup(ip: string | undefined): string {
  if (ip === undefined) return 'unknown';
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(ip)) return ip;
  const [head = '', tail] = ip.split('%', 1)[0]?.split('::') ?? [];
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(8 - before.length - after.length, 0) }, () => '0');
  const groups = [...before, ...zeros, ...after].slice(0, 4);
  return `${groups.map((group) => group.toLowerCase().replace(/^0+(?=.)/, '')).join(':')}::/64`;
}
