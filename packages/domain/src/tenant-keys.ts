import ipaddr from 'ipaddr.js';

/** The scopes of a tenant's key (CONTRACT 12). */
export const keyScopes = ['read', 'spend', 'settings'] as const;
export type KeyScope = (typeof keyScopes)[number];

export function isKeyScope(text: string): text is KeyScope {
  return keyScopes.some((scope) => scope === text);
}

/** The limits of a key (CONTRACT 12). */
export interface KeyLimits {
  readonly scopes: readonly KeyScope[];
  /** CIDR blocks in canonical form. Empty: any address. */
  readonly addresses: readonly string[];
  /** Null if the key does not expire. */
  readonly expiresAt: Date | null;
}

/**
 * True if a key with the limits `key` can do nothing that `other` cannot. A key creates and deletes
 * only such keys (CONTRACT 12).
 */
export function isWithinKey(key: KeyLimits, other: KeyLimits): boolean {
  return (
    key.scopes.every((scope) => other.scopes.includes(scope)) &&
    liesWithin(key.addresses, other.addresses) &&
    (other.expiresAt === null || (key.expiresAt !== null && key.expiresAt <= other.expiresAt))
  );
}

/** True for a key with all scopes, without addresses and without an expiry (`last_key`). */
export function isUnlimitedKey({ scopes, addresses, expiresAt }: KeyLimits): boolean {
  return (
    keyScopes.every((scope) => scopes.includes(scope)) &&
    addresses.length === 0 &&
    expiresAt === null
  );
}

/** True if each of `blocks` lies in one of `others`. Without blocks, any address is meant. */
function liesWithin(blocks: readonly string[], others: readonly string[]): boolean {
  if (others.length === 0) return true;
  if (blocks.length === 0) return false;
  const wide = others.map(parseBlock);
  return blocks.every((text) => {
    const block = parseBlock(text);
    if (block === undefined) return false;
    const [base, bits] = block;
    return wide.some(
      (other) => other !== undefined && bits >= other[1] && matches(base, other[0], other[1]),
    );
  });
}

type Block = [ipaddr.IPv4 | ipaddr.IPv6, number];

const cidrPattern = /^([0-9a-f.:]{2,39})\/(0|[1-9][0-9]{0,2})$/i;

/**
 * A CIDR block in canonical form, such as `2001:db8::/32`. Undefined if the text is not a block,
 * has a bit set after the prefix, or begins with an IPv4-mapped IPv6 address.
 */
export function canonicalCidr(text: string): string | undefined {
  const block = parseBlock(text);
  if (block === undefined) return undefined;
  const [address, bits] = block;
  return `${textOf(address)}/${bits}`;
}

/**
 * Compiles CIDR blocks into a check of client addresses (CONTRACT 12). Without blocks every address
 * passes. With blocks, a missing or invalid address does not pass.
 */
export function compileAddresses(
  blocks: readonly string[],
): (address: string | undefined) => boolean {
  if (blocks.length === 0) return () => true;
  const parsed = blocks.flatMap((text) => {
    const block = parseBlock(text);
    return block === undefined ? [] : [block];
  });
  const contains = (text: string): boolean => {
    const plain = text.split('%', 1)[0] ?? '';
    if (!ipaddr.isValid(plain)) return false;
    const address = ipaddr.process(plain);
    return parsed.some(([base, bits]) => matches(address, base, bits));
  };
  // Most requests of a key come from the same address as the previous request. The last result is
  // therefore kept.
  let last: { readonly text: string; readonly passes: boolean } | undefined;
  return (text = '') => {
    if (last?.text !== text) last = { text, passes: contains(text) };
    return last.passes;
  };
}

function parseBlock(text: string): Block | undefined {
  const [, base = '', digits = ''] = cidrPattern.exec(text) ?? [];
  const address = parseAddress(base);
  const bits = Number(digits);
  if (address === undefined || bits > address.toByteArray().length * 8) return undefined;
  const bytes = address.toByteArray();
  const hasHostBits = bytes.some((byte, at) => (byte & ~prefixByte(bits - at * 8)) !== 0);
  return hasHostBits ? undefined : [address, bits];
}

function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  if (!text.includes(':') || !ipaddr.IPv6.isValid(text)) return undefined;
  const address = ipaddr.IPv6.parse(text);
  return address.isIPv4MappedAddress() ? undefined : address;
}

function prefixByte(bits: number): number {
  return 0xff & ~(0xff >> Math.min(Math.max(bits, 0), 8));
}

function textOf(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();
}

function matches(
  address: ipaddr.IPv4 | ipaddr.IPv6,
  base: ipaddr.IPv4 | ipaddr.IPv6,
  bits: number,
): boolean {
  return address.kind() === base.kind() && address.match(base, bits);
}
