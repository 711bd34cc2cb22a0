/**
 * Words that mark a question as required or optional. `normaliseLabel` drops such a word in
 * brackets, as in "Phone (required)", and at the end after "*" or a dash, as in "Phone - required".
 * It keeps the word in "Is a visa required?".
 */
const mark =
  '(?:required|mandatory|optional|erforderlich|pflichtfeld|freiwillig|obligatoire|requis|facultatif|obligatorio|opcional|必須|任意)';
const bracketedMark = new RegExp(`[([{] ?\\*? ?${mark} ?\\*? ?[)\\]}]`, 'gu');
const trailingMark = new RegExp(`(?:\\* ?| [-\\u2013\\u2014] ?)${mark}[ *.]*$`, 'u');

/**
 * Runs of characters other than letters, digits and combining marks. Invisible characters belong to
 * the runs even if they are letters or marks. For example, a variation selector is a mark.
 */
const others = /(?:[^\p{L}\p{M}\p{N}]|\p{Default_Ignorable_Code_Point})+/gu;

/**
 * The text by which labels, questions and options are compared (CONTRACT 10). Two labels are equal
 * if these texts are equal. An empty text equals nothing.
 */
export function normaliseLabel(text: string): string {
  return caseFolded(text.normalize('NFKC'))
    .replaceAll(/\s+/gu, ' ')
    .replaceAll(bracketedMark, ' ')
    .replace(trailingMark, ' ')
    .normalize('NFKC')
    .replaceAll(others, ' ')
    .trim();
}

/**
 * Changes the case three times, so that "ß", "ẞ" and "ss" become equal. Does not change the case of
 * a dotless "ı": its capital is the same as that of "i", but it must stay different from "i".
 */
function caseFolded(text: string): string {
  const folded = text.split('ı').map((part) => part.toLowerCase().toUpperCase().toLowerCase());
  return folded.join('ı').replaceAll('ς', 'σ');
}
