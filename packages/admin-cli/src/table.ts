/** The narrowest width to which a column is cut. */
const columnWidthMin = 6;
const gap = '  ';

/**
 * Makes untrusted text safe for a terminal. Control characters, line breaks and characters that
 * change the direction of text become �.
 */
export function plainText(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, '\uFFFD');
}

const zeroWidth = /^(?:\p{Mn}|\p{Me}|\p{Cf})$/u;
const doubleWidth =
  /^[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE4F\uFF00-\uFF60\uFFE0-\uFFE6\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]$/u;

function characterWidth(character: string): number {
  if (zeroWidth.test(character)) return 0;
  return doubleWidth.test(character) ? 2 : 1;
}

export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

function cut(text: string, widthMax: number): string {
  if (textWidth(text) <= widthMax) return text;
  let kept = '';
  let width = 0;
  for (const character of text) {
    width += characterWidth(character);
    if (width > widthMax - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

function pad(text: string, width: number, toRight: boolean): string {
  const spaces = ' '.repeat(Math.max(0, width - textWidth(text)));
  return toRight ? spaces + text : text + spaces;
}

const numeric = /^-?\d[\d,.]*( ?(ms|s|m|h|d|%|×))?$/;

/**
 * Columns of numbers are right-aligned. With `widthMax`, the widest columns are cut until each line
 * fits, but not below `columnWidthMin`.
 */
export function tableLines(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  widthMax?: number,
): string[] {
  const lines = [head, ...rows].map((row) => head.map((_, index) => plainText(row[index] ?? '')));
  const widths = head.map((_, index) =>
    lines.reduce((widest, line) => Math.max(widest, textWidth(line[index] ?? '')), 0),
  );
  if (widthMax !== undefined) narrow(widths, widthMax - gap.length * (head.length - 1));
  const toRight = head.map((_, index) => {
    const cells = rows.map((row) => row[index] ?? '').filter((cell) => cell !== '-');
    return cells.length > 0 && cells.every((cell) => numeric.test(cell));
  });
  return lines.map((line) =>
    line
      .map((cell, index) => {
        const width = widths[index] ?? 0;
        return pad(cut(cell, width), width, toRight[index] === true);
      })
      .join(gap)
      .trimEnd(),
  );
}

function narrow(widths: number[], total: number): void {
  let sum = widths.reduce((all, width) => all + width, 0);
  while (sum > total) {
    const widest = Math.max(...widths);
    if (widest <= columnWidthMin) return;
    widths[widths.indexOf(widest)] = widest - 1;
    sum -= 1;
  }
}
