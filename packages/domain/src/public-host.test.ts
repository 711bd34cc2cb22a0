import { describe, expect, test } from 'vitest';
import { isPublicAddress, isPublicHost } from './public-host.ts';

describe('public', () => {
  test.each([
    'example.com',
    'jobs.example.com.',
    'EXAMPLE.COM',
    'xn--bcher-kva.example',
    'bücher.example',
    'localhost.example.com',
    'mylocal.example',
    'notlocal.example',
    'some.notlocal',
    'internal.example.com',
    '8.8.8.8',
    '1.1.1.1',
    '134744072',
    '0x08080808',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.0',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '100.63.255.255',
    '100.128.0.0',
    '[2606:4700:4700::1111]',
    '[2001:4860:4860::8888]',
    '[2A00:1450:4001:81b::200e]',
    '[2001:200::1]',
    '[2003::1]',
  ])('%s', (hostname) => {
    expect(isPublicHost(hostname)).toBe(true);
  });
});

describe('not public', () => {
  test.each([
    ['this network', ['0.0.0.0', '0', '0.1.2.3']],
    ['private', ['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.1.1']],
    ['carrier-grade NAT', ['100.64.0.1', '100.127.255.255']],
    ['loopback', ['127.0.0.1', '127.255.255.254', '127.0.0.1.']],
    ['link local and metadata', ['169.254.0.1', '169.254.169.254']],
    ['protocol assignments', ['192.0.0.1', '192.0.0.9', '192.0.0.170', '192.0.0.255']],
    ['documentation', ['192.0.2.1', '198.51.100.7', '203.0.113.255']],
    ['AS112, AMT, 6to4 relays', ['192.31.196.1', '192.52.193.1', '192.88.99.1', '192.175.48.1']],
    ['benchmarking', ['198.18.0.1', '198.19.255.255']],
    ['multicast', ['224.0.0.1', '239.255.255.255']],
    ['reserved and broadcast', ['240.0.0.1', '255.255.255.255']],
    ['hexadecimal', ['0x7f000001', '0x7f.1', '0x7F.0x0.0x0.0x1', '0xa000001']],
    ['octal', ['0177.0.0.1', '017700000001', '012.0.0.1']],
    ['decimal and short forms', ['2130706433', '127.1', '127.0.1', '3232235777', '192.168.257']],
    ['other digits and dots', ['１２７.０.０.１', '127。0。0。1', '①②⑦.0.0.1']],
    ['percent-encoded', ['%31%32%37.0.0.1', '127%2e0%2e0%2e1', 'loc%61lhost']],
  ])('IPv4, %s', (_name, hostnames) => {
    expect(hostnames.filter((hostname) => isPublicHost(hostname))).toEqual([]);
  });

  test.each([
    ['unspecified and loopback', ['[::]', '[::1]', '[0:0:0:0:0:0:0:1]']],
    ['IPv4-mapped', ['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::ffff:8.8.8.8]']],
    ['IPv4-compatible', ['[::127.0.0.1]', '[::7f00:1]', '[::8.8.8.8]']],
    ['IPv4-translated', ['[::ffff:0:127.0.0.1]']],
    ['NAT64', ['[64:ff9b::127.0.0.1]', '[64:ff9b::808:808]', '[64:ff9b:1::1]']],
    ['discard-only and dummy', ['[100::1]', '[100:0:0:1::1]']],
    ['Teredo', ['[2001::1]', '[2001:0:4136:e378:8000:63bf:3fff:fdd2]']],
    ['protocol assignments', ['[2001:1::1]', '[2001:2::1]', '[2001:3::1]', '[2001:4:112::1]']],
    ['ORCHID, drone ids', ['[2001:10::1]', '[2001:20::1]', '[2001:30::1]', '[2001:1ff::1]']],
    ['documentation', ['[2001:db8::1]', '[3fff::1]', '[3fff:fff::1]']],
    ['6to4', ['[2002:7f00:1::]', '[2002:808:808::1]']],
    ['AS112', ['[2620:4f:8000::1]']],
    ['SRv6', ['[5f00::1]']],
    ['unique local', ['[fc00::1]', '[fd12:3456::1]']],
    ['link and site local', ['[fe80::1]', '[febf::1]', '[fec0::1]']],
    ['multicast', ['[ff02::1]', '[ff0e::1]']],
  ])('IPv6, %s', (_name, hostnames) => {
    expect(hostnames.filter((hostname) => isPublicHost(hostname))).toEqual([]);
  });

  test.each([
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    'printer.local',
    'printer.local.',
    'Printer.LOCAL',
    'db.internal',
    'metadata.google.internal',
    'nas.lan',
    'home.arpa',
    'router.home.arpa',
    'router.home.arpa.',
    'intranet',
    'com.',
    '',
    '.',
    '..',
    'example..com',
    'example.com..',
    '.example.com',
  ])('the name %j', (hostname) => {
    expect(isPublicHost(hostname)).toBe(false);
  });

  test.each([
    'example.com/path',
    'example.com#x',
    'example.com?x',
    'user@example.com',
    'user:pass@example.com',
    'example.com:80',
    'example.com\\x',
    ' example.com',
    'example.com\n',
    '[::1]:80',
    '[::1',
    '[fe80::1%25eth0]',
    '2606:4700:4700::1111',
    '1.2.3.4.5',
    '256.256.256.256',
    'example.1',
    'exa mple.com',
  ])('an invalid host: %j', (hostname) => {
    expect(isPublicHost(hostname)).toBe(false);
  });
});

test('the host of a URL is judged as the URL parser normalises it', () => {
  for (const url of [
    'http://0x7f.1/',
    'https://①②⑦.⓪.⓪.①/',
    'http://[::FFFF:127.0.0.1]/',
    'http://2130706433/',
    'http://LOCALHOST./',
  ]) {
    expect(isPublicHost(new URL(url).hostname)).toBe(false);
  }
  expect(isPublicHost(new URL('https://Jobs.Example.com:8443/a').hostname)).toBe(true);
});

describe('an address that is connected to', () => {
  test.each(['8.8.8.8', '2606:4700:4700::1111'])('%s is public', (ip) => {
    expect(isPublicAddress(ip)).toBe(true);
  });

  test.each([
    '127.0.0.1',
    '10.0.0.1',
    '::1',
    '::ffff:8.8.8.8',
    '::ffff:10.0.0.1',
    'fe80::1%eth0',
    '2606:4700:4700::1111%eth0',
    '0177.0.0.1',
    '2130706433',
    '[2606:4700:4700::1111]',
    'example.com',
    '',
  ])('%j is not', (ip) => {
    expect(isPublicAddress(ip)).toBe(false);
  });
});

test('a name that is too long for the DNS is no public host', () => {
  expect(isPublicHost(`${'a.'.repeat(125)}com`)).toBe(true);
  expect(isPublicHost(`${'a.'.repeat(126)}com`)).toBe(false);
  // In ASCII, this label of 200 ideographs has more than 253 characters.
  const label = String.fromCodePoint(...Array.from({ length: 200 }, (_, n) => 0x4e_00 + 7 * n));
  expect(isPublicHost(new URL(`https://${label}.com/`).hostname)).toBe(false);
});
