import ipaddr from 'ipaddr.js';

/**
 * The rule for hosts that the service or a node may contact for a tenant (CONTRACT 3, 6 and 10). It
 * protects the private networks of the service and of nodes.
 */

/** Every block of IANA's IPv4 special-purpose registry, and multicast. */
const specialIpv4Blocks = [
  '0.0.0.0/8', // "this network"
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link local, cloud metadata
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, limited broadcast
].map((block) => ipaddr.IPv4.parseCIDR(block));

/**
 * The block with all global unicast addresses. All IPv6 addresses outside it are unassigned or
 * special, such as loopback, IPv4-mapped, unique local and multicast.
 */
const globalUnicastIpv6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Every block of IANA's IPv6 special-purpose registry that lies in `globalUnicastIpv6`. */
const specialIpv6Blocks = [
  '2001::/23', // protocol assignments: Teredo, benchmarking, AMT, AS112, ORCHID, drone ids
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
].map((block) => ipaddr.IPv6.parseCIDR(block));

/**
 * True if `ip` is a public IP address. False for every other text, such as an address in brackets
 * or with a zone.
 */
export function isPublicAddress(ip: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(ip)) {
    const address = ipaddr.IPv4.parse(ip);
    return !specialIpv4Blocks.some((block) => address.match(block));
  }
  if (!ipaddr.IPv6.isValid(ip) || ip.includes('%')) return false;
  const address = ipaddr.IPv6.parse(ip);
  return (
    address.match(globalUnicastIpv6) && !specialIpv6Blocks.some((block) => address.match(block))
  );
}

const localSuffixes = ['localhost', 'local', 'internal', 'lan', 'home.arpa'];
/** The notation in which the URL parser writes every IPv4 address. */
const fourParts = /^[0-9]{1,3}(?:\.[0-9]{1,3}){3}$/;
const hostDelimiters = /[/\\?#@:\s]/;
const bracketed = /^\[([^\]]*)\]$/;

/**
 * The host as the WHATWG URL parser normalises it: numbers become an address, names become lower
 * case. Undefined if the host is invalid.
 */
function normaliseHost(hostname: string): string | undefined {
  if (!bracketed.test(hostname) && hostDelimiters.test(hostname)) return undefined;
  try {
    return new URL(`http://${hostname}/`).hostname;
  } catch {
    return undefined;
  }
}

/** The longest name of the DNS. */
const nameLengthMax = 253;

/**
 * True if the text of a URL's `hostname` (IPv6 in brackets) looks public. Such a name can have a
 * private address, so code that connects must check the address with `isPublicAddress`.
 */
export function isPublicHost(hostname: string): boolean {
  const host = normaliseHost(hostname);
  if (host === undefined) return false;
  const ipv6 = bracketed.exec(host)?.[1];
  if (ipv6 !== undefined) return isPublicAddress(ipv6);
  const name = host.endsWith('.') ? host.slice(0, -1) : host;
  // The test with `fourParts` keeps names away from `isPublicAddress`. For a name, the library
  // `ipaddr.js` would throw and catch an error, which is slow.
  if (fourParts.test(name)) return isPublicAddress(name);
  const labels = name.split('.');
  if (labels.length < 2 || labels.includes('') || name.length > nameLengthMax) return false;
  return !localSuffixes.some((suffix) => name === suffix || name.endsWith(`.${suffix}`));
}
