import { describe, expect, test } from 'vitest';
import { createAddressRule, type Interfaces, parseCidrList } from './address-rule.ts';

const home: Interfaces = {
  lo: [{ address: '127.0.0.1', cidr: '127.0.0.1/8' }],
  eth0: [
    { address: '93.184.216.2', cidr: '93.184.216.2/24' },
    { address: '2a0e:1:2:300::2', cidr: '2a0e:1:2:300::2/64' },
    { address: 'fe80::1', cidr: 'fe80::1/64' },
  ],
  wlan0: [{ address: '2a0f:1::2', cidr: '2a0f:1::2/32' }],
  ppp0: [{ address: '45.83.1.7', cidr: null }],
};
const observed = ['198.41.0.4', '2a10:5:6:7700::1'];

function rule(options: Partial<Parameters<typeof createAddressRule>[0]> = {}) {
  return createAddressRule({
    interfaces: () => home,
    monotonicMs: () => 0,
    observed: () => observed,
    ...options,
  });
}

describe('the own networks', () => {
  test.each([
    ['the own IPv4 address', '93.184.216.2'],
    ['another host of its network', '93.184.216.255'],
    ['an own IPv4 address without a network', '45.83.1.7'],
    ['the own IPv6 address', '2a0e:1:2:300::2'],
    ['another host of its /64', '2a0e:1:2:300:ffff::9'],
    ['another /64 of its /56', '2a0e:1:2:3ff::9'],
    ['another /56 of a wider network', '2a0f:1:ffff::1'],
    ['the observed IPv4 address', '198.41.0.4'],
    ['the /56 of the observed IPv6 address', '2a10:5:6:77ff::9'],
    ['the own IPv4 address, mapped', '::ffff:93.184.216.2'],
    ['the own IPv4 address, mapped in hexadecimal', '::ffff:5db8:d802'],
    ['the own IPv4 address behind NAT64', '64:ff9b::5db8:d802'],
    ['the own IPv4 address in 6to4', '2002:5db8:d802::1'],
    ['the own IPv4 address behind the NAT64 of a provider', '2a00:1098:2b::1:5db8:d802'],
    ['the observed IPv4 address behind the NAT64 of a provider', '2a00:1098:2b::c629:4'],
    ['a zone', '2a0f:1::2%eth0'],
    ['no address', 'hooks.example.com'],
  ])('refuse %s', (_name, ip) => {
    expect(rule()(ip)).toBe(false);
  });

  test.each(['93.184.217.2', '45.83.1.8', '198.41.0.5', '2a0e:1:2:400::2', '2a10:5:6:7800::1'])(
    'do not contain %s',
    (ip) => {
      expect(rule()(ip)).toBe(true);
    },
  );

  test('are read again when an interface has changed', () => {
    let nowMs = 0;
    let interfaces: Interfaces = {};
    const isAllowed = rule({ interfaces: () => interfaces, monotonicMs: () => nowMs });
    expect(isAllowed('93.184.216.9')).toBe(true);
    interfaces = home;
    nowMs += 201;
    expect(isAllowed('93.184.216.9')).toBe(false);
  });
});

describe('a denied block', () => {
  const denied = ['8.8.0.0/16', '10.1.0.0/16', '2620:fe::/48'];

  test.each([
    ['8.8.8.8', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8', '2002:808:808::1', '2620:fe::9'],
    ['10.1.2.3', '::ffff:10.1.2.3', '64:ff9b::10.1.2.3', '2002:a01:203::1', '::10.1.2.3'],
  ])('is refused in each notation, also where private networks are allowed', (...ips) => {
    for (const allowsPrivate of [false, true]) {
      expect(ips.filter(rule({ denied, allowsPrivate }))).toEqual([]);
    }
  });

  test('is all that is refused where private networks are allowed', () => {
    const ips = ['127.0.0.1', '::1', '10.2.0.1', '93.184.216.2', '2a0e:1:2:300::2', '9.9.9.9'];
    expect(ips.filter(rule({ denied, allowsPrivate: true }))).toEqual(ips);
  });
});

test('a list of blocks is read', () => {
  expect(parseCidrList('')).toEqual([]);
  expect(parseCidrList('10.0.0.0/8, 2A00:1450::/32,')).toEqual(['10.0.0.0/8', '2a00:1450::/32']);
});

test.each(['10.0.0.1', '10.0.0.1/8', '10.0.0.0/33', 'example.com/8', '::ffff:10.0.0.0/104', ';'])(
  '%j is no list of blocks',
  (text) => {
    expect(parseCidrList(text)).toBeUndefined();
  },
);

test('a list of more than 1,000 blocks is refused', () => {
  expect(parseCidrList('8.8.8.8/32,'.repeat(1_001))).toBeUndefined();
});
