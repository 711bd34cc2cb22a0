import { expect, test } from 'vitest';
import { baseUrlOf } from './base-url.ts';

test('a client is shown the URL at which it reached the service', () => {
  for (const host of ['127.0.0.1:8080', 'sandbox.example.com', '[::1]:8080', 'a']) {
    expect(baseUrlOf({ isTls: false, host })).toBe(`http://${host}`);
    expect(baseUrlOf({ isTls: true, host })).toBe(`https://${host}`);
  }
});

test('an invalid host is never repeated, because people paste the URL into a shell', () => {
  const hosts = [`x';rm -rf ~;'`, '$(id)', 'a b', 'a/b', 'a"b', '<b>', '', '-a', 'a:b', undefined];
  for (const host of hosts) {
    expect(baseUrlOf({ isTls: false, host })).toBe('http://localhost');
  }
});
