import { expect, test } from 'vitest';
import { renderMarkdown } from './render-markdown.ts';

const htmlOf = (source: string) =>
  renderMarkdown(source).content.source.replaceAll(/>\s+</g, '><').trim();

test('text is escaped, also in code, tables and links', () => {
  const shown = htmlOf(
    '# A <b>\n\n| <i> |\n|---|\n| `<u>` |\n\n```sh\n<s>\n```\n\n[<a>](https://x.test/?a="b")\n',
  );
  expect(shown).not.toMatch(/<(?:b|i|u|s|a)>/);
  expect(shown).toContain('href="https://x.test/?a=&quot;b&quot;"');
});

test('a link to a file, a script or another host without TLS is plain text', () => {
  for (const target of ['docs/CONTRACT.md', 'javascript:alert', '//evil.test', 'http://x.test']) {
    expect(htmlOf(`[here](${target})`)).toBe('<p>here</p>');
  }
});

test('adjacent code in several languages is one choice; one language is always shown', () => {
  const shown = htmlOf(
    '```sh\na\n```\n\n```ts\nb\n```\n\n```python\nc\n```\n\ntext\n\n```sh\nd\n```\n',
  );
  expect([...shown.matchAll(/class="choice (\w+)"/g)].map(([, name]) => name)).toEqual([
    'sh',
    'ts',
    'python',
  ]);
  expect(shown.match(/type="radio"/g)).toHaveLength(3);
  expect(htmlOf('```ts\nb\n```\n\n```python\nc\n```\n')).not.toContain('choice');
});

test('items of a list continue on the next line, and a list ends at an empty line', () => {
  expect(htmlOf('- one\n  more\n- two\n\nafter')).toBe(
    '<ul><li>one more</li><li>two</li></ul><p>after</p>',
  );
});

test('headings with the same text have different ids', () => {
  expect(htmlOf('## Added\n\n## Added')).toBe(
    '<h2 id="added">Added</h2><h2 id="added-2">Added</h2>',
  );
});
