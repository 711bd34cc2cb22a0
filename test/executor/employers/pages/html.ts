import type { Field } from '../fields.ts';
import type { FixtureAnswer } from '../server/listen.ts';

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

export function pageAnswer(
  title: string,
  body: string,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): FixtureAnswer {
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<style>body{font:15px/1.4 sans-serif;max-width:44rem;margin:2rem auto}label,legend{display:block}input,select,textarea,button{font:inherit}
.visually-hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}[hidden]{display:none}
.field-wrapper,.field,.application-question,fieldset{margin:0 0 1rem}.select__menu,[role=listbox]{border:1px solid #999;background:#fff}.error{color:#a00}</style>
</head><body>${body}</body></html>`;
  return {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8', ...headers },
    body: html,
  };
}

export function jsonAnswer(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): FixtureAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}

export function redirect(location: string, headers: Record<string, string> = {}): FixtureAnswer {
  return { status: 302, headers: { location, ...headers } };
}

/** Escapes `<` in `data`, so a `</script>` in a value does not end the script element. */
export function scripts(data: unknown, ...sources: readonly string[]): string {
  const json = JSON.stringify(data).replaceAll('<', '\\u003c');
  return `<script type="application/json" id="form-data">${json}</script>${sources
    .map((source) => `<script>${source}</script>`)
    .join('')}`;
}

export function fieldData(fields: readonly Field[]): unknown {
  return fields.map(({ name, label, control, isRequired, options, isMultiple }) => ({
    name,
    label,
    control,
    isRequired,
    options: options ?? [],
    isMultiple: isMultiple ?? false,
  }));
}
