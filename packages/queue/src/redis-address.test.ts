import { expect, test } from 'vitest';
import { addressOf, clusterOf } from './redis-address.ts';

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

test('a URL of a cluster names its servers and the account, and every other URL names none', () => {
  expect(clusterOf('rediss+cluster://svc:a%40b@one:7001,two,[::1]:7003/')).toEqual({
    servers: [
      { host: 'one', port: 7_001 },
      { host: 'two', port: 6_379 },
      { host: '::1', port: 7_003 },
    ],
    username: 'svc',
    password: 'a@b',
    isEncrypted: true,
  });
  expect(clusterOf('redis+cluster://one')).toEqual({
    servers: [{ host: 'one', port: 6_379 }],
    isEncrypted: false,
  });
  for (const url of ['redis://one', 'redis+sentinel://one/main']) {
    expect(clusterOf(url)).toBeUndefined();
  }
});
