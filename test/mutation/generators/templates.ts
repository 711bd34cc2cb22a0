import { luaEdits } from './lua.ts';
import { type SqlEdit, sqlEdits } from './sql.ts';
import { isNode, nodesIn, type SyntaxNode, type Visit } from './syntax.ts';

export type Embedded = 'none' | 'sql' | 'lua';

const sqlTags = /(?:sql|queryRaw|executeRaw|join)$/;
const wholeStatement = /^\s*(?:\(\s*)?(?:SELECT|INSERT|UPDATE|DELETE|WITH|MERGE|LOCK|CREATE)\b/;
const partOfStatement = /\b(?:SELECT|FROM|WHERE|ORDER BY|RETURNING|ON CONFLICT|FOR UPDATE|SET)\b/;
const condition = /^\s*(?:AND\b|[\w.]+ (?:=|<>|<|>|<=|>=|IN|IS|BETWEEN)\s?)/;

/** The edits of the SQL or Lua in one literal, at their offsets in the file. */
export function embeddedEdits(
  { node, parent }: Visit,
  text: string,
  embedded: Embedded,
): (SqlEdit & { readonly sql?: string })[] {
  const literal = embedded === 'none' ? undefined : literalOf(node, text);
  if (literal === undefined) return [];
  const { masked, at } = literal;
  if (embedded === 'lua') return masked.includes('redis.call') ? moved(luaEdits(masked), at) : [];
  if (!isSql(masked, parent, text)) return [];
  const isFragment = !wholeStatement.test(masked) && condition.test(masked);
  return moved(sqlEdits(masked, isFragment), at).map((edit) => ({
    ...edit,
    sql: literalPart(node, text, edit.start),
  }));
}

function moved(edits: readonly SqlEdit[], by: number): SqlEdit[] {
  return edits.map((edit) => ({ ...edit, start: edit.start + by, end: edit.end + by }));
}

/**
 * The text of a string or template, and its offset `at` in the file. Each `${…}` becomes a name of
 * the same length. Undefined for other nodes.
 */
function literalOf(node: SyntaxNode, text: string): { masked: string; at: number } | undefined {
  const at = node.start + 1;
  if (node.type === 'Literal' && typeof node['value'] === 'string')
    return { masked: text.slice(at, node.end - 1), at };
  if (node.type !== 'TemplateLiteral') return undefined;
  let masked = '';
  let last = at;
  for (const hole of nodesIn(node['expressions'])) {
    const start = text.lastIndexOf('${', hole.start);
    const end = text.indexOf('}', hole.end) + 1;
    masked += text.slice(last, start) + 'hole'.padEnd(end - start, '_').slice(0, end - start);
    last = end;
  }
  return { masked: masked + text.slice(last, node.end - 1), at };
}

function isSql(masked: string, parent: SyntaxNode | undefined, text: string): boolean {
  if (wholeStatement.test(masked) || partOfStatement.test(masked)) return /[a-z_]/.test(masked);
  const tag = parent?.type === 'TaggedTemplateExpression' ? parent['tag'] : undefined;
  return isNode(tag) && sqlTags.test(text.slice(tag.start, tag.end).replace(/<.*$/s, ''));
}

/**
 * Returns the text of a string without its quotes. For a template, returns only the literal part at
 * the offset `at`, without backticks and placeholders.
 */
function literalPart(node: SyntaxNode, text: string, at: number): string {
  if (node.type === 'Literal') return text.slice(node.start + 1, node.end - 1);
  const part = nodesIn(node['quasis']).find(({ start, end }) => start <= at && at <= end);
  return part === undefined ? '' : text.slice(part.start, part.end).replaceAll(/^\}|\$\{$|`/g, '');
}
