import { expect, test } from 'vitest';
import { plainText, tableLines, textWidth } from './table.ts';

test('columns are aligned for narrow, wide and combining characters', () => {
  const lines = tableLines(
    ['name', 'credits'],
    [
      ['Ana', '7'],
      ['日本語', '1,000'],
      ['e\u0301t\u00E9', '20.5'],
    ],
  );
  expect(new Set(lines.map(textWidth)).size).toBe(1);
  expect(lines[1]).toBe('Ana           7');
});

test('a line fits the terminal: its widest column is cut with an ellipsis', () => {
  const rows = [['tnt_01kajh8z2wf5xav9c3q7m4n6rt', 'https://hooks.example.com/a/long/path', 'x']];
  for (const width of [40, 60, 80]) {
    const lines = tableLines(['tenantId', 'webhookUrl', 'y'], rows, width);
    expect(Math.max(...lines.map(textWidth))).toBe(Math.min(width, 72));
  }
  expect(tableLines(['a', 'b', 'c'], rows, 40)[1]).toContain('…');
});

test('untrusted text cannot control the terminal', () => {
  expect(plainText('a\u001B[2Jb\nc\u009B1md\u202Ee')).toBe('a\uFFFD[2Jb\uFFFDc\uFFFD1md\uFFFDe');
});
