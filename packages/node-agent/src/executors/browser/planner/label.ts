/**
 * Words that mark a question as required or optional. They are dropped only in brackets, or at the
 * end after a dash or an asterisk. Elsewhere they belong to the question: "Is a visa required?".
 */
const mark =
  '(?:required|mandatory|optional|erforderlich|pflichtfeld|freiwillig|obligatoire|requis|facultatif|obligatorio|opcional|必須|任意)';
const bracketedMark = new RegExp(`[([{] ?\\*? ?${mark} ?\\*? ?[)\\]}]`, 'gu');
const trailingMark = new RegExp(`(?:\\* ?| [-\\u2013\\u2014] ?)${mark}[ *.]*$`, 'u');

/** A combining mark belongs to its letter. Variation selectors and other invisible ones do not. */
const others = /(?:[^\p{L}\p{M}\p{N}]|\p{Default_Ignorable_Code_Point})+/gu;

/**
 * The form in which labels, questions and options are compared (CONTRACT 10): NFKC, case-folded,
 * without marks of required and optional, and each run of characters other than letters and digits
 * is one blank. Two texts are equal if these forms are equal. The empty form equals nothing.
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
 * Only the capital of ß is in two letters, and only the small letter of ẞ has that capital. The
 * dotless ı stays different from i, although both have the capital I.
 */
function caseFolded(text: string): string {
  const folded = text.split('ı').map((part) => part.toLowerCase().toUpperCase().toLowerCase());
  return folded.join('ı').replaceAll('ς', 'σ');
}
