import { afterEach, expect, test, vi } from 'vitest';
import { jsonText, printRecord } from './output.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

function printed(record: Readonly<Record<string, unknown>>): string {
  const written: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0);
  printRecord(record, {});
  vi.restoreAllMocks();
  return written.join('');
}

test('neither names nor values of fields can control the terminal', () => {
  const details = { 'a\u001B[2J\u202Eb\u2066': 'c\u001B[1m\u200Fd', 'e\nf': 1 };
  const text = printed({ result: { details } });
  expect(text).toContain('result.details.a\uFFFD[2J\uFFFDb\uFFFD');
  expect(text).toContain('c\uFFFD[1m\uFFFDd');
  expect(text.match(/[\p{Cc}\p{Bidi_Control}]/gu)).toEqual(['\n', '\n']);
});

test('JSON keeps every string and escapes terminal control characters', () => {
  const value = { 'a\u202Eb\u009B': 'c\u2069\u007F\u2028\u001B' };
  const text = jsonText(value);
  expect(text).toBe('{"a\\u202eb\\u009b":"c\\u2069\\u007f\\u2028\\u001b"}');
  expect(JSON.parse(text)).toEqual(value);
});
