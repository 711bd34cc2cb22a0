import type { SqlEdit } from './sql.ts';

const otherOperator = new Map([
  ['<', '<='],
  ['<=', '<'],
  ['>', '>='],
  ['>=', '>'],
  ['==', '~='],
  ['~=', '=='],
  ['math.min', 'math.max'],
  ['math.max', 'math.min'],
  ['and', 'or'],
  ['or', 'and'],
]);
const operators =
  /--[^\n]*|'[^'\n]*'|<=|>=|==|~=|<|>|\bmath\.(?:min|max)\b|\band\b|\bor\b|(?<=[+-] )\d+/g;
const conditions = /\b(?:if|elseif) (?<condition>.+?) then\b/g;
/** A line that is one call, or one assignment without `local`. */
const statements = /^[ \t]*(?<call>[\w.]+\(.*\)|(?!local )[\w.]+(?:\[.+\])? = .+)[ \t]*$/gm;

function isBalanced(text: string): boolean {
  const count = (characters: RegExp) => text.match(characters)?.length ?? 0;
  return count(/[({]/g) === count(/[)}]/g);
}

export function luaEdits(text: string): SqlEdit[] {
  const edits: SqlEdit[] = [];
  for (const match of text.matchAll(operators)) {
    const [found] = match;
    const at = { start: match.index, end: match.index + found.length };
    const after = /^\d+$/.test(found) ? `${Number(found) + 1}` : otherOperator.get(found);
    if (after !== undefined) edits.push({ kind: 'lua-bound', ...at, after });
  }
  for (const match of text.matchAll(conditions)) {
    const condition = match.groups?.['condition'] ?? '';
    const start = match.index + match[0].indexOf(condition);
    const after = `not (${condition})`;
    edits.push({ kind: 'lua-condition', start, end: start + condition.length, after });
  }
  for (const match of text.matchAll(statements)) {
    const call = match.groups?.['call'] ?? '';
    if (!isBalanced(call)) continue;
    const start = match.index + match[0].indexOf(call);
    edits.push({ kind: 'lua-statement', start, end: start + call.length, after: '' });
  }
  return edits;
}
