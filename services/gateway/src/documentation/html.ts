/** HTML that is written here, as opposed to text that has yet to be escaped. */
export class Html {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

type Part = Html | string | number | readonly Part[];

/** A template whose values are escaped, but for those that are HTML already. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.map((fixed, index) => fixed + sourceOf(parts[index] ?? '')).join(''));
}

function sourceOf(part: Part): string {
  if (part instanceof Html) return part.source;
  if (typeof part === 'object') return part.map(sourceOf).join('');
  return escapeText(String(part));
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** What a browser would obey is shown as �: control characters, and marks that turn text round. */
function escapeText(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, (character) =>
      character === '\n' || character === '\t' ? character : '\uFFFD',
    )
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** A sentence of a description: what stands in back quotes is code. */
export function prose(text: string): Html {
  return new Html(escapeText(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>'));
}
