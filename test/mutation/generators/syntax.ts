import { parseSync } from 'oxc-parser';

/** A node of the syntax tree (ESTree). Its members are read by name. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

export interface Visit {
  readonly node: SyntaxNode;
  readonly parent: SyntaxNode | undefined;
  /**
   * The names of the classes, functions, methods, variables and object members around the node,
   * joined by dots. The outermost is first.
   */
  readonly scope: string;
  /**
   * The number of the innermost function around the node. The functions of a file are numbered from
   * 1. The number is 0 if the node is in no function.
   */
  readonly reach: number;
  /**
   * True if the node is inside a `try` statement of the same function. The blocks of `catch` and
   * `finally` count too.
   */
  readonly isTried: boolean;
}

const functionTypes = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
]);
/**
 * `walk` enters TypeScript nodes of these types, such as `x as T`, because they wrap an expression.
 * It skips all other TypeScript nodes, such as type annotations.
 */
const runningTypes = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression']);

/** Parses TypeScript. Throws if the syntax is invalid. */
export function parse(file: string, text: string): SyntaxNode {
  const { program, errors } = parseSync(file, text);
  const [first] = errors;
  if (first !== undefined) throw new Error(`${file} cannot be parsed: ${first.message}`);
  if (!isNode(program)) throw new Error(`the parser returned no syntax tree for ${file}`);
  return program;
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

export function isFunction(node: SyntaxNode): boolean {
  return functionTypes.has(node.type);
}

export function nodesIn(value: unknown): SyntaxNode[] {
  if (Array.isArray(value)) return value.filter(isNode);
  return isNode(value) ? [value] : [];
}

/**
 * Visits each syntax node before its children. Skips types and other TypeScript nodes, except those
 * in `runningTypes`.
 */
export function walk(program: SyntaxNode, visit: (visited: Visit) => void): void {
  let functionsCount = 0;
  const go = (visited: Visit) => {
    const { node } = visited;
    visit(visited);
    const scope = [visited.scope, nameOf(node)].filter(Boolean).join('.');
    let { reach } = visited;
    if (isFunction(node)) {
      functionsCount += 1;
      reach = functionsCount;
    }
    const isTried = !isFunction(node) && (visited.isTried || node.type === 'TryStatement');
    for (const [member, value] of Object.entries(node)) {
      if (member === 'parent') continue;
      for (const child of nodesIn(value)) {
        if (child.type.startsWith('TS') && !runningTypes.has(child.type)) continue;
        go({ node: child, parent: node, scope, reach, isTried });
      }
    }
  };
  go({ node: program, parent: undefined, scope: '', reach: 0, isTried: false });
}

function nameOf(node: SyntaxNode): string {
  const named = node.type === 'Property' || node.type === 'MethodDefinition' ? 'key' : 'id';
  const id = node[named];
  return isNode(id) && typeof id['name'] === 'string' ? id['name'] : '';
}
