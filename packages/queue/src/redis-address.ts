import type { RedisOptions } from 'ioredis';

type SentinelOptions = Pick<
  RedisOptions,
  | 'sentinels'
  | 'name'
  | 'username'
  | 'password'
  | 'sentinelPassword'
  | 'tls'
  | 'sentinelTLS'
  | 'enableTLSForSentinelMode'
  | 'failoverDetector'
>;

const sentinelPortDefault = 26_379;
const serverPortDefault = 6_379;

export interface ClusterAddress {
  readonly servers: readonly ServerAddress[];
  readonly username?: string;
  readonly password?: string;
  readonly isEncrypted: boolean;
}

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Parses the URL of a cluster: `redis+cluster://[user:password@]host:port,host:port[/]`, or
 * `rediss+cluster://` for TLS. Undefined for every other URL.
 */
export function clusterOf(redisUrl: string): ClusterAddress | undefined {
  const found = /^(rediss?)\+cluster:\/\/(?:([^/?#@]*)@)?([^/?#@]+)\/?$/.exec(redisUrl);
  if (found === null) return undefined;
  const [, protocol, account = '', authority = ''] = found;
  return {
    servers: authority.split(',').map((text) => hostAndPort(text, serverPortDefault)),
    ...accountOf(account),
    isEncrypted: protocol === 'rediss',
  };
}

/**
 * Parses `redis+sentinel://[user:password@]host:port,host:port/master[?sentinelPassword=]` (TLS:
 * `rediss`). Returns every other URL unchanged, even that of a cluster.
 */
export function addressOf(redisUrl: string): { url: string } | { options: SentinelOptions } {
  const found = /^(rediss?)\+sentinel:\/\/(?:([^/?#@]*)@)?([^/?#]+)\/([^/?#]+)(?:\?(.*))?$/.exec(
    redisUrl,
  );
  if (found === null) return { url: redisUrl };
  const [, protocol, account = '', authority = '', name = '', query = ''] = found;
  const sentinelPassword = new URLSearchParams(query).get('sentinelPassword');
  return {
    options: {
      sentinels: authority.split(',').map((text) => hostAndPort(text, sentinelPortDefault)),
      name: decodeURIComponent(name),
      ...accountOf(account),
      ...(sentinelPassword === null ? {} : { sentinelPassword }),
      ...(protocol === 'rediss'
        ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }
        : {}),
      // Closes the connection to a master when a sentinel reports another master. Otherwise a
      // socket to a host that vanished would stay open.
      failoverDetector: true,
    },
  };
}

function accountOf(account: string): { username?: string; password?: string } {
  const [username = '', password = ''] = account.split(':').map(decodeURIComponent);
  return {
    ...(username === '' ? {} : { username }),
    ...(password === '' ? {} : { password }),
  };
}

function hostAndPort(text: string, portDefault: number): ServerAddress {
  const { hostname, port } = new URL(`redis://${text}`);
  // A URL contains an IPv6 address in brackets. A socket needs the address without brackets.
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return { host, port: port === '' ? portDefault : Number(port) };
}
