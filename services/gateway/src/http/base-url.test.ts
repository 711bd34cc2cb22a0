import { expect, test } from 'vitest';
import { baseUrlOf } from './base-url.ts';

test('a client is shown where it reached the service', () => {
  for (const host of ['127.0.0.1:8080', 'sandbox.example.com', '[::1]:8080', 'a']) {
    expect(baseUrlOf({ protocol: 'http', host })).toBe(`http://${host}`);
    expect(baseUrlOf({ protocol: 'https', host })).toBe(`https://${host}`);
  }
});

test('what is no host is never repeated: it would be pasted into a shell', () => {
  const hosts = [`x';rm -rf ~;'`, '$(id)', 'a b', 'a/b', 'a"b', '<b>', '', '-a', 'a:b', undefined];
  for (const host of hosts) {
    expect(baseUrlOf({ protocol: 'http', host })).toBe('http://localhost');
  }
});
