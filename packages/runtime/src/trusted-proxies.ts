import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { TLSSocket } from 'node:tls';
import { plainAddress } from './address-group.ts';

/** The proxies of `TRUST_PROXY`. Their headers about the client are trusted (CONTRACT 9). */
export interface TrustedProxies {
  /**
   * Returns the client's address from the `X-Forwarded-For` of a trusted proxy. Without that
   * header, returns the peer's address, or undefined if the peer is unknown.
   */
  clientAddress(request: IncomingMessage): string | undefined;
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

function peerOf({ socket }: IncomingMessage): string | undefined {
  return socket.remoteAddress === undefined ? undefined : plainAddress(socket.remoteAddress);
}

function proxiesOf(trusted: BlockList): TrustedProxies {
  const isTrusted = (address: string): boolean =>
    isIP(address) !== 0 && trusted.check(address, familyOf(address));
  return {
    clientAddress(request) {
      const peer = peerOf(request);
      if (peer === undefined || !isTrusted(peer)) return peer;
      const forwarded = valuesOf(request, 'x-forwarded-for').map(plainAddress);
      // The last address that is not a trusted proxy is the client. It may invent earlier ones.
      return forwarded.findLast((address) => !isTrusted(address)) ?? forwarded[0] ?? peer;
    },
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
