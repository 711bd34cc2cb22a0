import { Html, html } from './html.ts';
import { type Block, type CodeBlock, parseMarkdown } from './markdown.ts';

const languages = [
  ['sh', 'curl'],
  ['ts', 'TypeScript'],
  ['python', 'Python'],
] as const;

export interface RenderedMarkdown {
  /** The text of the first paragraph, without its markup. Empty if there is no paragraph. */
  readonly summary: string;
  readonly content: Html;
  readonly sections: readonly { readonly id: string; readonly title: string }[];
}

/**
 * Renders Markdown. Adjacent code blocks, one in each of `languages`, are alternatives: the reader
 * chooses the language that the page shows.
 */
export function renderMarkdown(source: string): RenderedMarkdown {
  const blocks = parseMarkdown(source);
  const ids = idsOf(blocks);
  const sections = blocks.flatMap((block, index) =>
    block.kind === 'heading' && block.level === 2
      ? [{ id: ids[index] ?? '', title: plain(block.text) }]
      : [],
  );
  const groups = groupsOf(blocks);
  const hasChoice = groups.some(isChoice);
  const [first = html``, ...rest] = groups.map((group) => {
    const isChosen = isChoice(group);
    return html`${group.map((block) => blockHtml(block, ids[blocks.indexOf(block)] ?? '', isChosen))}`;
  });
  const paragraph = blocks.find((block) => block.kind === 'paragraph');
  return {
    summary: paragraph === undefined ? '' : plain(paragraph.text),
    content: html`${first} ${hasChoice ? languageChoice() : ''} ${rest}`,
    sections,
  };
}

function isChoice(group: readonly Block[]): boolean {
  return group.length === languages.length;
}

function groupsOf(blocks: readonly Block[]): Block[][] {
  const groups: Block[][] = [];
  for (const block of blocks) {
    const group = groups.at(-1);
    if (group !== undefined && isAlternative(group, block)) group.push(block);
    else groups.push([block]);
  }
  return groups;
}

function isAlternative(group: readonly Block[], block: Block): boolean {
  const language = languageOf(block);
  return (
    language !== undefined &&
    group.every((one) => languageOf(one) !== undefined && languageOf(one) !== language)
  );
}

function languageOf(block: Block): string | undefined {
  if (block.kind !== 'code') return undefined;
  return languages.find(([language]) => language === block.language)?.[0];
}

function idsOf(blocks: readonly Block[]): string[] {
  const counts = new Map<string, number>();
  return blocks.map((block) => {
    if (block.kind !== 'heading') return '';
    const slug = plain(block.text)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '');
    const count = (counts.get(slug) ?? 0) + 1;
    counts.set(slug, count);
    return count === 1 ? slug : `${slug}-${count}`;
  });
}

/** The choice consists of radio buttons, because they need no script. */
function languageChoice(): Html {
  return html`<fieldset class="languages">
    <legend>Language</legend>
    ${languages.map(
      ([language, name], index) =>
        html`<input
            type="radio"
            name="language"
            id="language-${language}"
            ${index === 0 ? new Html('checked') : ''}
          /><label for="language-${language}">${name}</label>`,
    )}
  </fieldset>`;
}

function blockHtml(block: Block, id: string, isChosen: boolean): Html {
  switch (block.kind) {
    case 'heading':
      return headingHtml(block.level, id, inline(block.text));
    case 'paragraph':
      return html`<p>${inline(block.text)}</p>`;
    case 'list': {
      const items = block.items.map((item) => html`<li>${inline(item)}</li>`);
      return block.isOrdered
        ? html`<ol>
            ${items}
          </ol>`
        : html`<ul>
            ${items}
          </ul>`;
    }
    case 'table':
      return tableHtml(block.head, block.rows);
    case 'code':
      return code(block, isChosen);
  }
}

function headingHtml(level: number, id: string, text: Html): Html {
  const tag = new Html(`h${level}`);
  return html`<${tag} id="${id}">${text}</${tag}>`;
}

function tableHtml(head: readonly string[], rows: readonly (readonly string[])[]): Html {
  return html`<div class="scroll" tabindex="0">
    <table>
      <thead>
        <tr>
          ${head.map((cell) => html`<th scope="col">${inline(cell)}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells.map((cell) => html`<td>${inline(cell)}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function code({ language, file, text }: CodeBlock, isChosen: boolean): Html {
  const caption = file === '' ? '' : html`<p class="file"><code>${file}</code></p>`;
  const pre = html`<pre tabindex="0"><code>${text}</code></pre>`;
  return isChosen
    ? html`<div class="choice ${language}">${caption}${pre}</div>`
    : html`${caption}${pre}`;
}

const inlinePattern = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(([^)\s]+)\)/g;
/**
 * Matches a link target that readers can open: a path of this service, a fragment or an `https`
 * URL.
 */
const servedTarget = /^(?:\/(?!\/)|#|https:\/\/)/;

/**
 * Renders the text of a block. If the target of a link does not match `servedTarget`, only the
 * label is rendered. An example is a link to a file of the repository.
 */
function inline(text: string): Html {
  const parts: (Html | string)[] = [];
  let end = 0;
  for (const match of text.matchAll(inlinePattern)) {
    const [whole, quoted, strong, label = '', target = ''] = match;
    parts.push(text.slice(end, match.index));
    end = match.index + whole.length;
    if (quoted !== undefined) parts.push(html`<code>${quoted}</code>`);
    else if (strong !== undefined) parts.push(html`<strong>${inline(strong)}</strong>`);
    else if (servedTarget.test(target)) parts.push(html`<a href="${target}">${inline(label)}</a>`);
    else parts.push(inline(label));
  }
  return html`${[...parts, text.slice(end)]}`;
}

function plain(text: string): string {
  return text.replaceAll(
    inlinePattern,
    (_whole, quoted, strong, label) => quoted ?? strong ?? plain(label),
  );
}
