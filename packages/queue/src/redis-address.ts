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

/**
 * The options of a connection to `redisUrl`. `redis://` and `rediss://` name one server.
 * `redis+sentinel://[user:password@]host:port,host:port/master` names the sentinels of a master, and
 * `rediss+sentinel://` does so with TLS. `?sentinelPassword=` is the password of the sentinels.
 */
export function addressOf(redisUrl: string): { url: string } | { options: SentinelOptions } {
  const found = /^(rediss?)\+sentinel:\/\/(?:([^/?#@]*)@)?([^/?#]+)\/([^/?#]+)(?:\?(.*))?$/.exec(
    redisUrl,
  );
  if (found === null) return { url: redisUrl };
  const [, protocol, account = '', authority = '', name = '', query = ''] = found;
  const [username = '', password = ''] = account.split(':').map(decodeURIComponent);
  const sentinelPassword = new URLSearchParams(query).get('sentinelPassword');
  return {
    options: {
      sentinels: authority.split(',').map(hostAndPort),
      name: decodeURIComponent(name),
      ...(username === '' ? {} : { username }),
      ...(password === '' ? {} : { password }),
      ...(sentinelPassword === null ? {} : { sentinelPassword }),
      ...(protocol === 'rediss'
        ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }
        : {}),
      // Leaves the old master as soon as a sentinel reports another one. A socket to a host that
      // vanished would stay open.
      failoverDetector: true,
    },
  };
}

function hostAndPort(text: string): { host: string; port: number } {
  const { hostname, port } = new URL(`redis://${text}`);
  return { host: hostname, port: port === '' ? sentinelPortDefault : Number(port) };
}
