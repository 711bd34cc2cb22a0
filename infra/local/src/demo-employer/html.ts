const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** HTML that is safe to put into a page. */
export interface Html {
  readonly source: string;
}

type Part = Html | string | number | readonly Html[];

/** Builds HTML from a template. Escapes strings and numbers. Inserts `Html` unchanged. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { source: strings.map((text, index) => text + sourceOf(parts[index] ?? '')).join('') };
}

function sourceOf(part: Part): string {
  if (typeof part !== 'object') {
    return String(part).replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
  }
  return 'source' in part ? part.source : part.map(({ source }) => source).join('');
}
