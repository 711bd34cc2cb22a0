/** Words that mark a question as required or optional. */
const mark =
  '(?:required|mandatory|optional|erforderlich|pflichtfeld|pflichtangabe|freiwillig|obligatoire|requis|facultatif|obligatorio|obrigatório|opcional|obbligatorio|facoltativo|opzionale|verplicht|optioneel|wymagane|opcjonalne|obligatorisk|frivillig|valfritt|påkrævet|valgfri(?:t)?|必須|任意)';
/** A mark in brackets, as in "Phone (required)". */
const bracketedMark = new RegExp(`[([{] ?\\*? ?${mark} ?\\*? ?[)\\]}]`, 'gu');
/** A mark at the end, after "*" or a dash, as in "Phone - required". */
const trailingMark = new RegExp(`(?:\\* ?| [-\\u2013\\u2014] ?)${mark}[ *.]*$`, 'u');

/**
 * Runs of characters other than letters, digits and combining marks. Invisible letters and marks,
 * such as variation selectors, belong to the runs, too.
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
 * The label without the hint in brackets at its end, as in "Salary (gross, in USD)". The whole text
 * if nothing else would be left.
 */
export function withoutHint(label: string): string {
  const bare = label.replace(/\s*[*✱]*\s*(?:\([^()]*\)|\[[^[\]]*\])\s*[*✱:]*\s*$/u, '');
  return normaliseLabel(bare) === '' ? label : bare;
}

/** Changes the case three times, so that "ß", "ẞ" and "ss" become equal. */
function caseFolded(text: string): string {
  // The letters "ı" and "i" have the same capital, but must stay different.
  const folded = text.split('ı').map((part) => part.toLowerCase().toUpperCase().toLowerCase());
  return folded.join('ı').replaceAll('ς', 'σ');
}
