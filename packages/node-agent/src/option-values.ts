import { isIP } from 'node:net';
import { InvalidArgumentError } from 'commander';
import {
  destinationKey,
  type HostMap,
  readAuthority,
} from './executors/browser/egress/destination.ts';

/**
 * Parsers for the values of options. If a value is invalid, a parser throws `InvalidArgumentError`,
 * whose message describes a valid value.
 */

export function wholeNumber(max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^[0-9]+$/.test(text) && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from 0 to ${max}.`);
  };
}

export function linkAddress(text: string): string {
  if (/^wss?:\/\//i.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError('It must be an address like wss://host:port.');
}

/**
 * True if the link is plain `ws` and its host is not a loopback name or address. Others could read
 * the frames on such a link.
 */
export function isPlainBeyondLoopback(link: string): boolean {
  const { protocol, hostname } = new URL(link);
  if (protocol !== 'ws:') return false;
  return !(hostname === 'localhost' || hostname === '[::1]' || /^127\.[\d.]+$/.test(hostname));
}

export const notEncrypted =
  'The link is not encrypted. Use wss://, or --insecure if nobody else can read it.';

export function nodeId(text: string): string {
  if (/^nod_[0-9a-z]{26}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be the nodeId that `svc node create` printed.');
}

/**
 * Adds the entries of `text`, separated by commas, to `previous`. If two entries have the same name
 * and port, the last one is used.
 */
export function hostMapping(text: string, previous: HostMap | undefined): HostMap {
  const added = text.split(',').map((one): [string, { address: string; port: number }] => {
    const [from = '', to = '', ...rest] = one.trim().split('=');
    const [source, target] = [readAuthority(from), readAuthority(to)];
    const address = target?.host.replaceAll(/^\[|\]$/g, '') ?? '';
    if (source === undefined || target === undefined || rest.length > 0 || isIP(address) === 0) {
      throw new InvalidArgumentError(
        'It must be NAME:PORT=ADDRESS:PORT, where ADDRESS is an IP address.',
      );
    }
    return [destinationKey(source), { address, port: target.port }];
  });
  return new Map([...(previous ?? []), ...added]);
}

export function hostName(text: string, previous: readonly string[] | undefined): string[] {
  const added = text.split(',').map((one) => {
    const host = readAuthority(`${one.trim()}:80`)?.host;
    if (host === undefined) {
      throw new InvalidArgumentError('It must be a host name without a scheme, port or path.');
    }
    return host;
  });
  return [...(previous ?? []), ...added];
}
