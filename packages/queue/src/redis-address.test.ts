import { expect, test } from 'vitest';
import { addressOf } from './redis-address.ts';

test('a URL of sentinels names each of them, the master and both passwords', () => {
  const url = 'redis+sentinel://svc:a%40b@one:26379,two/main?sentinelPassword=c%26d';
  expect(addressOf(url)).toEqual({
    options: {
      sentinels: [
        { host: 'one', port: 26_379 },
        { host: 'two', port: 26_379 },
      ],
      name: 'main',
      username: 'svc',
      password: 'a@b',
      sentinelPassword: 'c&d',
      failoverDetector: true,
    },
  });
});

test('a URL of sentinels with TLS encrypts the connections to sentinels and to the master', () => {
  expect(addressOf('rediss+sentinel://one/main')).toMatchObject({
    options: { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true },
  });
});

test('a URL of one server is passed on as it is', () => {
  for (const url of ['redis://:a@one:6379', 'rediss://one'])
    expect(addressOf(url)).toEqual({ url });
});
