import { expect, test } from 'vitest';
import { canonicalCidr, compileAddresses } from './tenant-keys.ts';

test.each([
  ['203.0.113.0/24', '203.0.113.0/24'],
  ['203.0.113.7/32', '203.0.113.7/32'],
  ['203.0.112.0/21', '203.0.112.0/21'],
  ['0.0.0.0/0', '0.0.0.0/0'],
  ['2001:DB8:0::/32', '2001:db8::/32'],
  ['::1/128', '::1/128'],
  ['::/0', '::/0'],
])('the block %s is kept as %s', (text, canonical) => {
  expect(canonicalCidr(text)).toBe(canonical);
});

test.each([
  '203.0.113.7',
  '203.0.113.7/24',
  '203.0.113.0/33',
  '203.0.113.0/024',
  '203.0.113/24',
  '0x7f.0.0.0/8',
  '2001:db8::1/32',
  '2001:db8::/129',
  '::ffff:203.0.113.0/120',
  'fe80::%eth0/64',
  'example.com/24',
  '/24',
  '',
])('%s is no CIDR block', (text) => {
  expect(canonicalCidr(text)).toBeUndefined();
});

test('an address passes if one of the blocks contains it', () => {
  const allows = compileAddresses(['203.0.113.0/25', '2001:db8:1::/48']);
  expect(
    ['203.0.113.127', '::ffff:203.0.113.1', '2001:db8:1:ffff::1', '2001:db8:1::1%eth0'].map(allows),
  ).toEqual([true, true, true, true]);
  expect(
    ['203.0.113.128', '::ffff:203.0.113.200', '2001:db8:2::1', '203.0.113', '', undefined].map(
      allows,
    ),
  ).toEqual([false, false, false, false, false, false]);
});

test('without blocks every address passes, and a broken block passes none', () => {
  expect(compileAddresses([])(undefined)).toBe(true);
  expect(compileAddresses(['nonsense'])('203.0.113.1')).toBe(false);
});
