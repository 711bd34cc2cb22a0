import ipaddr from 'ipaddr.js';
import { isPublicAddress } from './public-host.ts';
import { canonicalCidr } from './tenant-keys.ts';

/**
 * The rule for the addresses that a process may connect to for somebody else (CONTRACT 6 and 10).
 * It is asked about each address that a name resolved to.
 */
export type AddressRule = (ip: string) => boolean;

/** The part of `os.networkInterfaces()` that the rule reads. */
export type Interfaces = Readonly<
  Record<string, readonly { readonly address: string; readonly cidr: string | null }[] | undefined>
>;

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Block = readonly [base: Address, bits: number];

/**
 * A home or host has at least this prefix of global IPv6 addresses. Other networks of the home are
 * in it, too (CONTRACT 10).
 */
const homePrefixBits = 56;
/** The rule reads the interfaces again when its last reading is older. A reading takes up to 1 ms. */
const readingMsMax = 200;
const deniedMax = 1_000;

/** IPv6 blocks whose addresses end with an IPv4 address, which a translator connects to. */
const translatedBlocks = [
  '::/96',
  '::ffff:0:0/96',
  '::ffff:0:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
].map((block) => ipaddr.IPv6.parseCIDR(block));
const sixToFour = ipaddr.IPv6.parseCIDR('2002::/16');

function parse(text: string): Address | undefined {
  const [plain = ''] = text.split('%', 1);
  if (ipaddr.IPv4.isValidFourPartDecimal(plain)) return ipaddr.IPv4.parse(plain);
  return plain.includes(':') && ipaddr.IPv6.isValid(plain) ? ipaddr.IPv6.parse(plain) : undefined;
}

function ipv4At(address: ipaddr.IPv6, firstByte: number): ipaddr.IPv4 {
  return new ipaddr.IPv4(address.toByteArray().slice(firstByte, firstByte + 4));
}

/** The address, and the IPv4 address that it stands for if its block is known. */
function formsOf(address: Address): readonly Address[] {
  if (address instanceof ipaddr.IPv4) return [address];
  if (address.match(sixToFour)) return [address, ipv4At(address, 2)];
  const isTranslated = translatedBlocks.some((block) => address.match(block));
  return isTranslated ? [address, ipv4At(address, 12)] : [address];
}

function isIn(forms: readonly Address[], blocks: readonly Block[]): boolean {
  return blocks.some(([base, bits]) =>
    forms.some((address) => address.kind() === base.kind() && address.match(base, bits)),
  );
}

/** The network of an own address: at least its /56 if it is a global IPv6 address. */
function networkOf(text: string, cidr: string | null): readonly Block[] {
  const base = parse(text);
  if (base === undefined) return [];
  const bits = Number(cidr?.split('/')[1] ?? base.toByteArray().length * 8);
  const isGlobalIpv6 = base instanceof ipaddr.IPv6 && isPublicAddress(base.toString());
  return [[base, isGlobalIpv6 ? Math.min(bits, homePrefixBits) : bits]];
}

interface Own {
  readonly blocks: readonly Block[];
  /** The single IPv4 addresses, as texts. */
  readonly ipv4: ReadonlySet<string>;
}

function ownOf(interfaces: Interfaces, observed: readonly string[]): Own {
  const found = Object.values(interfaces).flatMap((addresses = []) => addresses);
  const all = [...found, ...observed.map((address) => ({ address, cidr: null }))];
  return {
    blocks: all.flatMap(({ address, cidr }) => networkOf(address, cidr)),
    ipv4: new Set(all.map(({ address }) => address)),
  };
}

/**
 * True if the process may be meant. A translator of a provider may have any prefix, so the last 32
 * bits of every IPv6 address are compared with the own IPv4 addresses.
 */
function isOwn(address: Address, { blocks, ipv4 }: Own): boolean {
  if (isIn(formsOf(address), blocks)) return true;
  return address instanceof ipaddr.IPv6 && ipv4.has(ipv4At(address, 12).toString());
}

export interface AddressRuleOptions {
  /** Usually `os.networkInterfaces`. */
  readonly interfaces: () => Interfaces;
  readonly monotonicMs: () => number;
  /** The public addresses from which others see this process (`observedAddress`, CONTRACT 7). */
  readonly observed?: () => readonly string[];
  /** CIDR blocks that are refused always (`OUTBOUND_DENY_CIDRS`). */
  readonly denied?: readonly string[];
  /** True allows every address that `denied` does not contain, also the own ones. */
  readonly allowsPrivate?: boolean;
}

/**
 * Returns the rule: an address is public, in no network of this process's own interfaces, not an
 * `observed` one, and not `denied`. Interfaces may change, so they are read again.
 */
export function createAddressRule(options: AddressRuleOptions): AddressRule {
  const { interfaces, monotonicMs, observed = () => [], denied = [], allowsPrivate } = options;
  const deniedBlocks = denied.map((block): Block => ipaddr.parseCIDR(block));
  let reading: { readonly atMs: number; readonly own: Own } | undefined;
  const ownNow = (): Own => {
    const atMs = monotonicMs();
    if (reading === undefined || atMs - reading.atMs > readingMsMax) {
      reading = { atMs, own: ownOf(interfaces(), observed()) };
    }
    return reading.own;
  };
  return (ip) => {
    const address = parse(ip);
    if (address === undefined || isIn(formsOf(address), deniedBlocks)) return false;
    if (allowsPrivate === true) return true;
    return isPublicAddress(ip) && !isOwn(address, ownNow());
  };
}

/**
 * Reads a list of CIDR blocks, separated by commas and blanks. Undefined if a part is no block, has
 * a bit set after its prefix, or if the list has more than 1,000 blocks.
 */
export function parseCidrList(text: string): readonly string[] | undefined {
  const parts = text.split(/[\s,]+/u).filter(Boolean);
  if (parts.length > deniedMax) return undefined;
  const blocks = parts.flatMap((part) => canonicalCidr(part) ?? []);
  return blocks.length === parts.length ? blocks : undefined;
}
