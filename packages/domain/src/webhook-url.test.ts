import { expect, test } from 'vitest';
import { checkWebhookUrl } from './webhook-url.ts';

const refused = (text: string, allowPrivateNetworks = false) => {
  const check = checkWebhookUrl(text, { allowPrivateNetworks });
  return check.kind === 'refused' ? check.reason : null;
};

test('a public https URL is accepted unchanged', () => {
  const url = 'https://hooks.example.com/svc?tenant=1';
  expect(checkWebhookUrl(url, { allowPrivateNetworks: false })).toEqual({ kind: 'accepted', url });
});

test('a URL of 2,048 characters is accepted, one more is not', () => {
  const url = 'https://hooks.example.com/'.padEnd(2_048, 'x');
  expect(refused(url)).toBeNull();
  expect(refused(`${url}x`)).toContain('at most 2048');
});

test('http, private hosts, credentials and invalid URLs are refused with a reason', () => {
  expect(refused('http://hooks.example.com/')).toBe('must be an https URL');
  expect(refused('https://127.0.0.1/')).toBe('must have a public host name or address');
  expect(refused('https://2130706433/')).toBe('must have a public host name or address');
  expect(refused('https://user:pass@hooks.example.com/')).toBe(
    'must not contain a user name or password',
  );
  expect(refused('unix:/var/run/x.sock')).toBe('must be an https URL');
  expect(refused('hooks.example.com')).toBe('must be a valid URL');
  expect(refused(`https://hooks.example.com/${'x'.repeat(2048)}`)).toContain('at most 2048');
});

test('if private networks are allowed, http and private hosts are accepted too, and nothing else', () => {
  expect(refused('http://127.0.0.1:9000/hook', true)).toBeNull();
  expect(refused('https://localhost/hook', true)).toBeNull();
  expect(refused('ftp://127.0.0.1/', true)).toBe('must be an http or https URL');
  expect(refused('http://user@127.0.0.1/', true)).toBe('must not contain a user name or password');
});
