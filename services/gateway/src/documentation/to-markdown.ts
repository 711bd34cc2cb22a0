import type { Html } from './html.ts';

/**
 * Converts the content of `referencePage`, `errorsPage` or `profilePage` to Markdown. Supports only
 * the elements of these pages.
 */
export function markdownOf(content: Html): string {
  const parts: string[] = [];
  let row: string[] = [];
  let cell: string[] | undefined;
  let href = '';
  let isPreformatted = false;
  let isLineStart = true;
  const append = (text: string): void => {
    (cell ?? parts).push(text);
    isLineStart = text === '' ? isLineStart : text.endsWith('\n');
  };
  const startCell = (): void => {
    cell = [];
    isLineStart = true;
  };
  const endCell = (): void => {
    const text = (cell ?? []).join('').trim();
    row.push(text.replaceAll('|', String.raw`\|`));
    cell = undefined;
  };
  const paragraph = (): void => append('\n\n');
  const strong = (): void => append('**');
  const quote = (): void => append(isPreformatted ? '' : '`');
  const starts: Readonly<Record<string, () => void>> = {
    p: paragraph,
    ul: paragraph,
    table: paragraph,
    summary: paragraph,
    li: () => append('\n- '),
    tr: () => (row = []),
    th: startCell,
    td: startCell,
    pre() {
      isPreformatted = true;
      append('\n\n```json\n');
    },
    code: quote,
    strong,
    a: () => append('['),
  };
  const ends: Readonly<Record<string, () => void>> = {
    th: endCell,
    td: endCell,
    tr: () => append(`\n| ${row.join(' | ')} |`),
    thead: () => append(`\n|${'---|'.repeat(row.length)}`),
    pre() {
      isPreformatted = false;
      append('\n```\n');
    },
    code: quote,
    strong,
    a: () => append(`](${href})`),
  };
  for (const [part, slash, name = '', attributes = ''] of content.source.matchAll(tokens)) {
    if (!part.startsWith('<')) {
      const text = unescaped(isPreformatted ? part.trim() : part.replaceAll(/\s+/g, ' '));
      append(isLineStart && !isPreformatted ? text.trimStart() : text);
    } else if (heading.test(name)) {
      append(slash === '/' ? '\n' : `\n\n${'#'.repeat(Number(name[1]))} `);
    } else if (slash === '/') {
      ends[name]?.();
    } else {
      if (name === 'a') [, href = ''] = /href="([^"]*)"/.exec(attributes) ?? [];
      starts[name]?.();
    }
  }
  return tidied(parts.join(''));
}

function tidied(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd());
  return `${lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()}\n`;
}

const tokens = /<(\/?)([a-z0-9]+)([^>]*)>|[^<]+/g;
const heading = /^h[1-4]$/;

const characters: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
};

function unescaped(text: string): string {
  return text.replaceAll(
    /&(amp|lt|gt|quot|#39);/g,
    (whole, name: string) => characters[name] ?? whole,
  );
}
