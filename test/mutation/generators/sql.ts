import type { MutantKind } from '../mutant.ts';
import { clauseEnd, conditionEnd, readSql, splitAt, type SqlToken, wordsOf } from './sql-tokens.ts';

export interface SqlEdit {
  readonly kind: MutantKind;
  readonly start: number;
  readonly end: number;
  readonly after: string;
}

type Range = readonly [from: number, to: number];
type Generator = (tokens: readonly SqlToken[], at: number) => SqlEdit[];

const conditionStarts = new Set(['WHERE', 'ON', 'HAVING', 'IF', 'WHEN', 'AND', 'OR', 'NOT']);
const orderStops = wordsOf('LIMIT FOR OFFSET FETCH UNION ROWS RANGE LOOP RETURNING ;');
const setStops = new Set(['FROM', 'WHERE', 'RETURNING', ';']);
const otherBound = new Map([
  ['<', '<='],
  ['<=', '<'],
  ['>', '>='],
  ['>=', '>'],
  ['GREATEST', 'least'],
  ['LEAST', 'greatest'],
]);

function edit(
  tokens: readonly SqlToken[],
  [from, to]: Range,
  { kind, after }: { kind: MutantKind; after: string },
): SqlEdit[] {
  const first = tokens[from];
  const last = tokens[to - 1];
  if (first === undefined || last === undefined) return [];
  return [{ kind, start: first.start, end: last.end, after }];
}

function dropConjuncts(tokens: readonly SqlToken[], [from, to]: Range): SqlEdit[] {
  return splitAt(tokens, [from, to], 'AND').flatMap((conjunct) => {
    if (isConstant(tokens, conjunct)) return [];
    const whole = edit(tokens, conjunct, { kind: 'sql-conjunct', after: 'true' });
    return [...whole, ...dropDisjuncts(tokens, conjunct)];
  });
}

/**
 * True if the range is only a constant, for example `'open'` in `CASE state WHEN 'open'`. Such a
 * constant is usually a value and not a condition, so it gets no mutant.
 */
function isConstant(tokens: readonly SqlToken[], [from, to]: Range): boolean {
  return to === from + 1 && /^(?:TRUE|FALSE|'.*|\d.*)$/s.test(tokens[from]?.word ?? '');
}

function dropDisjuncts(tokens: readonly SqlToken[], range: Range): SqlEdit[] {
  const inner = withoutParentheses(tokens, range);
  if (inner !== range && splitAt(tokens, inner, 'AND').length > 1)
    return dropConjuncts(tokens, inner);
  const sides = splitAt(tokens, inner, 'OR');
  if (sides.length < 2) return [];
  return sides.flatMap((side) => edit(tokens, side, { kind: 'sql-conjunct', after: 'false' }));
}

function withoutParentheses(tokens: readonly SqlToken[], range: Range): Range {
  const [from, to] = range;
  const first = tokens[from];
  const last = tokens[to - 1];
  const encloses = first?.word === '(' && last?.word === ')' && last.depth === first.depth;
  if (!encloses) return range;
  const closes = tokens.findIndex(
    ({ word, depth }, at) => at > from && word === ')' && depth === first.depth,
  );
  return closes === to - 1 ? [from + 1, to - 1] : range;
}

function beginsCondition(tokens: readonly SqlToken[], at: number): boolean {
  const word: string = tokens[at]?.word ?? '';
  const before = tokens[at - 1]?.word ?? '';
  const after = tokens[at + 1]?.word ?? '';
  switch (word) {
    case 'WHERE':
    case 'HAVING':
      return true;
    case 'WHEN':
      return !/^(?:MATCHED|NOT)$/.test(after);
    case 'IF':
      return before !== 'END' && !/^(?:EXISTS|NOT)$/.test(after);
    case 'ON':
      return joinsTables(tokens, at);
    default:
      return false;
  }
}

/**
 * True for the ON of a join. False for the ON of a conflict, an index, a trigger or a foreign key.
 */
function joinsTables(tokens: readonly SqlToken[], at: number): boolean {
  const next = tokens[at + 1]?.word ?? '';
  if (/^(?:CONFLICT|DELETE|UPDATE|COMMIT)$/.test(next)) return false;
  const depth = tokens[at]?.depth;
  for (let back = at - 1; back >= 0; back -= 1) {
    const token = tokens[back];
    if (token === undefined || depth === undefined || token.depth < depth) return false;
    if (token.depth > depth) continue;
    if (token.word === 'JOIN') return true;
    if (token.word === ';' || conditionStarts.has(token.word)) return false;
  }
  return false;
}

const conditions: Generator = (tokens, at) => {
  if (!beginsCondition(tokens, at)) return [];
  return dropConjuncts(tokens, [at + 1, conditionEnd(tokens, at + 1)]);
};

const checks: Generator = (tokens, at) => {
  if (tokens[at]?.word !== 'CHECK' || tokens[at + 1]?.word !== '(') return [];
  return dropConjuncts(tokens, [at + 2, conditionEnd(tokens, at + 2)]);
};

const bounds: Generator = (tokens, at) => {
  const token = tokens[at];
  const after = otherBound.get(token?.word ?? '');
  if (token === undefined || after === undefined) return [];
  if (/^[A-Z]/.test(token.word) && tokens[at + 1]?.word !== '(') return [];
  return edit(tokens, [at, at + 1], { kind: 'sql-bound', after });
};

const uniques: Generator = (tokens, at) => {
  if (tokens[at]?.word !== 'UNIQUE') return [];
  const kind = 'sql-unique';
  if (tokens[at + 1]?.word === 'INDEX') return edit(tokens, [at, at + 1], { kind, after: '' });
  if (tokens[at + 1]?.word !== '(') return edit(tokens, [at, at + 1], { kind, after: '' });
  const end = conditionEnd(tokens, at + 2);
  return edit(tokens, [at, end + 1], { kind, after: 'CHECK (true)' });
};

const locks: Generator = (tokens, at) => {
  const words = tokens.slice(at, at + 4).map(({ word }) => word);
  const form = /^FOR (?:UPDATE|SHARE|NO KEY UPDATE|KEY SHARE)/.exec(words.join(' '))?.[0];
  if (form === undefined) return [];
  let to = at + form.split(' ').length;
  if (tokens[to]?.word === 'OF') to += 2;
  while (tokens[to - 1]?.word !== 'OF' && tokens[to]?.word === ',') to += 2;
  const kind = 'sql-lock';
  const waits = tokens[to]?.word === 'SKIP' ? 2 : tokens[to]?.word === 'NOWAIT' ? 1 : 0;
  return [
    ...edit(tokens, [at, to + waits], { kind, after: '' }),
    ...(waits === 0 ? [] : edit(tokens, [to, to + waits], { kind, after: '' })),
  ];
};

const orders: Generator = (tokens, at) => {
  const kind = 'sql-order';
  if (tokens[at]?.word === 'DESC' && tokens[at - 1]?.word !== 'TABLE')
    return edit(tokens, [at, at + 1], { kind, after: 'ASC' });
  if (tokens[at]?.word !== 'ORDER' || tokens[at + 1]?.word !== 'BY') return [];
  return edit(tokens, [at, clauseEnd(tokens, at + 2, orderStops)], { kind, after: '' });
};

const conflicts: Generator = (tokens, at) => {
  if (tokens[at]?.word !== 'ON' || tokens[at + 1]?.word !== 'CONFLICT') return [];
  const depth = tokens[at]?.depth;
  const to = tokens.findIndex(
    (token, index) => index > at && token.word === 'DO' && token.depth === depth,
  );
  if (tokens[to + 1]?.word !== 'NOTHING') return [];
  return edit(tokens, [at, to + 2], { kind: 'sql-conflict', after: '' });
};

/**
 * The name or alias of the table that the SET at `at` changes, in an UPDATE or in `ON CONFLICT … DO
 * UPDATE`. Undefined for the SET of any other statement.
 */
function updatedRow(tokens: readonly SqlToken[], at: number): string | undefined {
  const before = tokens.slice(Math.max(0, at - 5), at);
  const words = before.map(({ word }) => word).join(' ');
  if (words.endsWith('DO UPDATE')) {
    const into = tokens.findLastIndex(({ word }, index) => index < at && word === 'INTO');
    return tokens[into + 2]?.word === 'AS' ? tokens[into + 3]?.text : tokens[into + 1]?.text;
  }
  const isUpdate = /(?:^| )UPDATE (?:ONLY )?\S+(?: (?:AS )?\S+)?$/.test(words);
  return isUpdate ? before.at(-1)?.text : undefined;
}

const columns: Generator = (tokens, at) => {
  if (tokens[at]?.word !== 'SET') return [];
  const row = updatedRow(tokens, at);
  if (row === undefined) return [];
  const range: Range = [at + 1, clauseEnd(tokens, at + 1, setStops)];
  return splitAt(tokens, range, ',').flatMap(([from, to]) => {
    if (tokens[from + 1]?.word !== '=') return [];
    const after = `${row}.${tokens[from]?.text ?? ''}`;
    return edit(tokens, [from + 2, to], { kind: 'sql-column', after });
  });
};

const generators = [conditions, checks, bounds, uniques, locks, orders, conflicts, columns];

/**
 * Lists the edits that mutate an SQL text. `isFragment`: the text is a condition that other code
 * appends to a WHERE.
 */
export function sqlEdits(text: string, isFragment = false): SqlEdit[] {
  const tokens = readSql(text);
  const edits = tokens.flatMap((_, at) => generators.flatMap((generate) => generate(tokens, at)));
  if (isFragment) edits.push(...dropConjuncts(tokens, [0, conditionEnd(tokens, 0)]));
  const byPlace = new Map(edits.map((one) => [`${one.start}-${one.end}-${one.after}`, one]));
  return [...byPlace.values()];
}
