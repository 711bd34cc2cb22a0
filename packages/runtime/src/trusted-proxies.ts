import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { TLSSocket } from 'node:tls';
import { plainAddress } from './address-group.ts';

/** The proxies of `TRUST_PROXY`. Their headers about the client are trusted (CONTRACT 9). */
export interface TrustedProxies {
  /**
   * Returns the client's address from the `X-Forwarded-For` of a trusted proxy. Otherwise the peer's
   * address, or undefined if the peer is unknown (CONTRACT 9).
   */
  clientAddress(request: IncomingMessage): string | undefined;
  /** True if a connection comes from a trusted proxy. `peer` is the address of the socket. */
  isTrusted(peer: string | undefined): boolean;
  /**
   * If a trusted proxy sends `X-Forwarded-Proto`, returns whether each value is `https`
   * (CONTRACT 2). For any other request, returns whether the connection uses TLS.
   */
  cameOverTls(request: IncomingMessage): boolean;
}

type Block = readonly [address: string, bits: number];

const namedBlocks: Readonly<Record<string, readonly Block[]>> = {
  loopback: [
    ['127.0.0.0', 8],
    ['::1', 128],
  ],
  linklocal: [
    ['169.254.0.0', 16],
    ['fe80::', 10],
  ],
  uniquelocal: [
    ['10.0.0.0', 8],
    ['172.16.0.0', 12],
    ['192.168.0.0', 16],
    ['fc00::', 7],
  ],
};

function blocksOf(text: string): readonly Block[] | undefined {
  const named = Object.hasOwn(namedBlocks, text) ? namedBlocks[text] : undefined;
  if (named !== undefined) return named;
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return undefined;
  const bitsMax = version === 4 ? 32 : 128;
  if (bits === undefined) return [[address, bitsMax]];
  if (!/^[0-9]{1,3}$/.test(bits) || Number(bits) < 1 || Number(bits) > bitsMax) return undefined;
  return [[address, Number(bits)]];
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

function valuesOf(request: IncomingMessage, name: string): string[] {
  const values = request.headersDistinct[name]?.join(',') ?? '';
  return values === '' ? [] : values.split(',').map((value) => value.trim());
}

export const trustProxyDescription =
  'the proxies that are trusted to report the address of the client and its use of TLS';

/** Says what `parseTrustedProxies` accepts. */
export const trustProxyRefused =
  'TRUST_PROXY must be a list of IP addresses, CIDR blocks and the names loopback, linklocal and uniquelocal, separated by commas. A CIDR block must not be /0. Example: 10.0.0.0/8,loopback.';

/**
 * Parses `TRUST_PROXY`: a comma-separated list of IP addresses, CIDR blocks and the names
 * `loopback`, `linklocal` and `uniquelocal`. Undefined if it is invalid.
 */
export function parseTrustedProxies(text: string): TrustedProxies | undefined {
  const trusted = new BlockList();
  for (const part of text.split(',')) {
    const blocks = blocksOf(part.trim());
    if (blocks === undefined) return undefined;
    for (const [address, bits] of blocks) trusted.addSubnet(address, bits, familyOf(address));
  }
  return proxiesOf(trusted);
}

export const noTrustedProxies: TrustedProxies = proxiesOf(new BlockList());

/** The most hops of `X-Forwarded-For` that are read. It may have thousands of values. */
const hopsMax = 32;

const addressWithPort = /^(?:\[([^\]]{2,45})\]|(\d{1,3}(?:\.\d{1,3}){3}))(?::\d{1,5})?$/;

/**
 * Reads one value of `X-Forwarded-For`: an address, which may have a port or stand in brackets.
 * Undefined for any other text.
 */
function forwardedAddress(value: string): string | undefined {
  const [, bracketed, ipv4] = addressWithPort.exec(value) ?? [];
  const text = bracketed ?? ipv4 ?? value;
  if (isIP(text) === 0 || (bracketed !== undefined && isIP(bracketed) !== 6)) return undefined;
  return plainAddress(text);
}

function peerOf({ socket }: IncomingMessage): string | undefined {
  return socket.remoteAddress === undefined ? undefined : plainAddress(socket.remoteAddress);
}

function proxiesOf(trusted: BlockList): TrustedProxies {
  const isTrusted = (address: string): boolean =>
    isIP(address) !== 0 && trusted.check(address, familyOf(address));
  return {
    clientAddress(request) {
      let address = peerOf(request);
      if (address === undefined || !isTrusted(address)) return address;
      // The last address that is not a trusted proxy is the client. It may invent earlier ones.
      for (const value of valuesOf(request, 'x-forwarded-for').slice(-hopsMax).toReversed()) {
        const forwarded = forwardedAddress(value);
        // Any other text counts as the address of the proxy that sent it.
        if (forwarded === undefined) return address;
        address = forwarded;
        if (!isTrusted(address)) return address;
      }
      return address;
    },
    isTrusted: (peer) => peer !== undefined && isTrusted(plainAddress(peer)),
    cameOverTls(request) {
      const peer = peerOf(request);
      const isEncrypted = request.socket instanceof TLSSocket;
      if (peer === undefined || !isTrusted(peer)) return isEncrypted;
      const said = valuesOf(request, 'x-forwarded-proto');
      if (said.length === 0) return isEncrypted;
      return said.every((protocol) => protocol.toLowerCase() === 'https');
    },
  };
}
