/**
 * Splits the Markdown of the guides and of the changelog into blocks. Block quotes, raw HTML and
 * nested lists become plain text.
 */

/** A text other than code may contain markup, such as links, which `renderMarkdown` handles. */
export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'paragraph'; readonly text: string }
  | { readonly kind: 'list'; readonly isOrdered: boolean; readonly items: readonly string[] }
  | {
      readonly kind: 'table';
      readonly head: readonly string[];
      readonly rows: readonly (readonly string[])[];
    }
  | CodeBlock;

export interface CodeBlock {
  readonly kind: 'code';
  /** The first word after the fence, such as `ts`. */
  readonly language: string;
  /** The file name from the fence: `app.ts` for `ts file=app.ts`. Empty if the fence has none. */
  readonly file: string;
  readonly text: string;
}

const heading = /^(#{1,4}) (.+)$/;
const fence = /^```(\S+)(.*)$/;
const listItem = /^(?:(-)|\d+\.) +(.*)$/;
const tableRow = /^\|.*\|$/;

function continues(line: string | undefined): line is string {
  return (
    line !== undefined &&
    line.trim() !== '' &&
    ![heading, fence, listItem, tableRow].some((start) => start.test(line))
  );
}

export function parseMarkdown(source: string): Block[] {
  const lines = source.split('\n');
  const blocks: Block[] = [];
  let next = 0;
  const wrapped = (first: string): string => {
    const parts = [first];
    for (let line = lines[next]; continues(line); line = lines[next]) {
      parts.push(line.trim());
      next += 1;
    }
    return parts.join(' ');
  };
  const linesUntil = (ends: (line: string) => boolean): string[] => {
    const start = next;
    while (next < lines.length && !ends(lines[next] ?? '')) next += 1;
    return lines.slice(start, next);
  };
  while (next < lines.length) {
    const line = lines[next] ?? '';
    next += 1;
    if (line.trim() === '') continue;
    const [, hashes, title = ''] = heading.exec(line) ?? [];
    const [, language, attributes = ''] = fence.exec(line) ?? [];
    const item = listItem.exec(line);
    if (hashes !== undefined) {
      blocks.push({ kind: 'heading', level: hashes.length, text: title });
    } else if (language !== undefined) {
      const text = linesUntil((one) => one === '```').join('\n');
      next += 1;
      const [, file = ''] = /\bfile=(\S+)/.exec(attributes) ?? [];
      blocks.push({ kind: 'code', language, file, text: `${text}\n` });
    } else if (tableRow.test(line)) {
      const [, ...rows] = linesUntil((one) => !tableRow.test(one)).map(cellsOf);
      blocks.push({ kind: 'table', head: cellsOf(line), rows });
    } else if (item !== null) {
      next -= 1;
      blocks.push({ kind: 'list', isOrdered: item[1] === undefined, items: takeItems() });
    } else {
      blocks.push({ kind: 'paragraph', text: wrapped(line.trim()) });
    }
  }
  return blocks;

  function takeItems(): string[] {
    const items: string[] = [];
    for (let item = listItem.exec(lines[next] ?? ''); item !== null;) {
      next += 1;
      items.push(wrapped(item[2] ?? ''));
      item = listItem.exec(lines[next] ?? '');
    }
    return items;
  }
}

/** Splits a row at `|`. In a cell, the text `\|` stands for the character `|`. */
function cellsOf(row: string): string[] {
  return row
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll(String.raw`\|`, '|'));
}
