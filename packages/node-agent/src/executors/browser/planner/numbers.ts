/**
 * The number in a text, without currency, for example `120000` for "120,000". Undefined if the text
 * is more than a number, such as "7+", or may be two.
 */
export function numberIn(text: string): string | undefined {
  const [, sign = '', body = ''] =
    /^(?:\p{Sc}|[A-Z]{3})?\s*(-?)\s*(?:\p{Sc}|[A-Z]{3})?\s*(\d[\d.,'’\s]*?)\s*(?:\p{Sc}|[A-Z]{3})?$/u.exec(
      text.trim(),
    ) ?? [];
  if (body === '') return undefined;
  const [, whole = '', rest = ''] = /^(.*?)(?:[.,](\d{1,2}))?$/u.exec(body) ?? [];
  if (!/^\d+$|^\d{1,3}([.,'’\s])\d{3}(?:\1\d{3})*$/u.test(whole)) return undefined;
  const digits = whole.replaceAll(/\D/gu, '').replace(/^0+(?=\d)/u, '');
  const fraction = rest.replace(/0+$/u, '');
  return `${sign}${digits}${fraction === '' ? '' : `.${fraction}`}`;
}
