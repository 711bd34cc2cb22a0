/** A token of SQL. Comments and white space are not tokens. */
export interface SqlToken {
  readonly text: string;
  /** `text` in capitals if the token begins with a letter or `_`. Otherwise the same as `text`. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
  /**
   * The number of parentheses, brackets and CASEs around this token. A parenthesis, bracket, CASE
   * or END does not count itself.
   */
  readonly depth: number;
}

const pattern =
  /--[^\n]*|\/\*[\s\S]*?\*\/|\s+|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$\w*\$|\$\w+|[\w.]+|@>|<@|<=|>=|<>|!=|->>|->|::|:=|\|\||./gs;
const skipped = /^(?:--|\/\*|\s)/;

/**
 * Reads SQL, fragments of SQL and the bodies of functions. Dollar quotes are tokens, and the text
 * between them is read as SQL. Text in single quotes is one token.
 */
export function readSql(text: string): SqlToken[] {
  const tokens: SqlToken[] = [];
  const open: string[] = [];
  for (const match of text.matchAll(pattern)) {
    const [found] = match;
    if (skipped.test(found)) continue;
    const word = /^[A-Za-z_]/.test(found) ? found.toUpperCase() : found;
    const closes = word === ')' || word === ']' || (word === 'END' && open.at(-1) === 'CASE');
    if (closes) open.pop();
    const depth = open.length;
    tokens.push({ text: found, word, start: match.index, end: match.index + found.length, depth });
    if (word === '(' || word === '[' || word === 'CASE') open.push(word);
  }
  return tokens;
}

const conditionStops = wordsOf(`
  GROUP ORDER LIMIT FOR RETURNING UNION EXCEPT INTERSECT HAVING WINDOW OFFSET FETCH THEN ELSE WHEN
  LEFT RIGHT INNER CROSS FULL JOIN ON WHERE LOOP DO SET END , ;`);

export function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

/** The index after the last token of the condition that begins at `from`. */
export function conditionEnd(tokens: readonly SqlToken[], from: number): number {
  return clauseEnd(tokens, from, conditionStops);
}

/**
 * The index after the last token of the clause that begins at `from`. The clause ends before an
 * unnested word of `stops`, before a dollar quote, or where the depth falls.
 */
export function clauseEnd(
  tokens: readonly SqlToken[],
  from: number,
  stops: ReadonlySet<string>,
): number {
  const depth = tokens[from]?.depth ?? 0;
  for (let at = from; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined) break;
    // A lower depth: the closing parenthesis, bracket or END around the clause.
    if (token.depth < depth || /^\$\w*\$$/.test(token.word)) return at;
    // LEFT or RIGHT before a parenthesis is a function call.
    const isCall = tokens[at + 1]?.word === '(' && /^(?:LEFT|RIGHT)$/.test(token.word);
    if (token.depth === depth && stops.has(token.word) && !isCall) return at;
  }
  return tokens.length;
}

/**
 * Splits the range from `from` (inclusive) to `to` (exclusive) at each `word` that is not nested.
 * Leaves out empty parts. The AND of a BETWEEN does not split.
 */
export function splitAt(
  tokens: readonly SqlToken[],
  [from, to]: readonly [number, number],
  word: string,
): (readonly [number, number])[] {
  const depth = tokens[from]?.depth ?? 0;
  const parts: (readonly [number, number])[] = [];
  let begin = from;
  let isBetween = false;
  for (let at = from; at < to; at += 1) {
    const token = tokens[at];
    if (token === undefined || token.depth !== depth) continue;
    if (token.word === 'BETWEEN') isBetween = true;
    if (token.word !== word) continue;
    if (word === 'AND' && isBetween) {
      isBetween = false;
      continue;
    }
    if (at > begin) parts.push([begin, at]);
    begin = at + 1;
  }
  if (to > begin) parts.push([begin, to]);
  return parts;
}

const headWords = 6;

/**
 * Returns at most `headWords` words from the beginning of the statement that contains the offset
 * `at`. They name the object that the statement creates or changes.
 */
export function statementHead(text: string, at: number): string {
  let head: string[] = [];
  let isQuoted = false;
  for (const { word, start } of readSql(text)) {
    if (start > at && head.length === headWords) break;
    if (/^\$\w*\$$/.test(word)) isQuoted = !isQuoted;
    if (word === ';' && !isQuoted) {
      if (start > at) break;
      head = [];
    } else if (head.length < headWords) head.push(word);
  }
  return head.join(' ');
}
