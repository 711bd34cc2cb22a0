/** Trusted HTML. Any other text is escaped before it enters a page. */
export class Html {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

type Part = Html | string | number | readonly Part[];

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

/**
 * Escapes text for HTML. Control characters except newline and tab, and characters that change the
 * direction of text, become �.
 */
function escapeText(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, (character) =>
      character === '\n' || character === '\t' ? character : '\uFFFD',
    )
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}

export function prose(text: string): Html {
  return new Html(escapeText(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>'));
}
