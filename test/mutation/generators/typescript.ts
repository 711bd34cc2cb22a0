import type { Edit, MutantKind } from '../mutant.ts';
import { isFunction, isNode, nodesIn, parse, type SyntaxNode, type Visit, walk } from './syntax.ts';
import { embeddedEdits, type Embedded } from './templates.ts';

interface Found {
  readonly kind: MutantKind;
  readonly start: number;
  readonly end: number;
  readonly after: string;
}

type Generator = (visit: Visit, text: string) => readonly Found[];

const otherComparison = new Map([
  ['<', '<='],
  ['<=', '<'],
  ['>', '>='],
  ['>=', '>'],
]);
const otherEquality = new Map([
  ['===', '!=='],
  ['!==', '==='],
]);
const otherSign = new Map([
  ['+', '-'],
  ['-', '+'],
  ['*', '/'],
  ['/', '*'],
]);

function nodeIn(node: SyntaxNode, member: string): SyntaxNode | undefined {
  return nodesIn(node[member])[0];
}

function textOf(text: string, node: SyntaxNode): string {
  return text.slice(node.start, node.end);
}

const conditions: Generator = ({ node }, text) => {
  const tested = ['IfStatement', 'ConditionalExpression', 'WhileStatement', 'DoWhileStatement'];
  const test = tested.includes(node.type) ? nodeIn(node, 'test') : undefined;
  if (test === undefined || test.type === 'Literal') return [];
  return [{ kind: 'condition', ...placeOf(test), after: `!(${textOf(text, test)})` }];
};

const conjuncts: Generator = ({ node }, text) => {
  if (node.type !== 'LogicalExpression' || node['operator'] === '??') return [];
  const left = nodeIn(node, 'left');
  const right = nodeIn(node, 'right');
  if (left === undefined || right === undefined) return [];
  return [left, right].map((kept) => ({
    kind: 'conjunct',
    ...placeOf(node),
    after: `(${textOf(text, kept)})`,
  }));
};

function placeOf({ start, end }: SyntaxNode): { start: number; end: number } {
  return { start, end };
}

const operators: Generator = ({ node, parent }, text) => {
  const operator = node['operator'];
  if (node.type !== 'BinaryExpression' || typeof operator !== 'string') return [];
  // An equality that is a whole condition is not changed here, because the generator `conditions`
  // negates most conditions.
  const isTest = parent !== undefined && parent['test'] === node;
  const equality = isTest ? undefined : otherEquality.get(operator);
  const isText = ['left', 'right'].some((side) => isTextual(nodeIn(node, side)));
  const sign = isText ? undefined : otherSign.get(operator);
  const after = otherComparison.get(operator) ?? equality ?? sign;
  const left = nodeIn(node, 'left');
  if (after === undefined || left === undefined) return [];
  const start = text.indexOf(operator, left.end);
  const kind = equality === undefined ? 'bound' : 'condition';
  return [{ kind, start, end: start + operator.length, after }];
};

function isTextual(node: SyntaxNode | undefined): boolean {
  return node?.type === 'TemplateLiteral' || typeof node?.['value'] === 'string';
}

const numbers: Generator = ({ node, parent }, text) => {
  if (node.type !== 'Literal' || parent === undefined) return [];
  const places = ['BinaryExpression', 'CallExpression', 'AssignmentExpression'];
  const found = textOf(text, node);
  if (!places.includes(parent.type) || !/^[\d_]+n?$/.test(found)) return [];
  const big = found.endsWith('n');
  const number = BigInt(found.replaceAll(/[_n]/g, '')) + 1n;
  return [{ kind: 'bound', ...placeOf(node), after: `${number}${big ? 'n' : ''}` }];
};

const extremes: Generator = ({ node }, text) => {
  if (node.type !== 'MemberExpression') return [];
  const other = new Map([
    ['Math.min', 'Math.max'],
    ['Math.max', 'Math.min'],
  ]).get(textOf(text, node));
  return other === undefined ? [] : [{ kind: 'bound', ...placeOf(node), after: other }];
};

/** Outside a `try`, the await of a returned value has no effect, so it gets no mutant. */
const awaits: Generator = ({ node, parent, isTried }, text) => {
  const argument = nodeIn(node, 'argument');
  if (node.type !== 'AwaitExpression' || argument === undefined) return [];
  if (parent?.type === 'ReturnStatement' && !isTried) return [];
  const isStatement = parent?.type === 'ExpressionStatement';
  const after = `${isStatement ? 'void ' : ''}${textOf(text, argument)}`;
  return [{ kind: 'await', ...placeOf(node), after }];
};

const returns: Generator = ({ node }, text) => {
  if (node.type !== 'ReturnStatement') return [];
  const argument = nodeIn(node, 'argument');
  if (argument === undefined) return [{ kind: 'return', ...placeOf(node), after: ';' }];
  const returned = textOf(text, argument);
  if (/^(?:null|undefined)$/.test(returned)) return [];
  const flipped = new Map([
    ['true', 'false'],
    ['false', 'true'],
  ]).get(returned);
  return [{ kind: 'return', ...placeOf(argument), after: flipped ?? 'undefined as never' }];
};

function isEffect(node: SyntaxNode, text: string): boolean {
  if (node.type !== 'ExpressionStatement' || typeof node['directive'] === 'string') return false;
  return !onlyLogged.test(textOf(text, node));
}

const onlyLogged = /\blog(?:ger)?\??(?:\.\w+)?\(/;

function onlyLogs(node: SyntaxNode, text: string): boolean {
  switch (node.type) {
    case 'ExpressionStatement':
      return onlyLogged.test(textOf(text, node));
    case 'BlockStatement':
      return nodesIn(node['body']).every((inner) => onlyLogs(inner, text));
    case 'IfStatement':
      return ['consequent', 'alternate'].every((branch) =>
        nodesIn(node[branch]).every((inner) => onlyLogs(inner, text)),
      );
    default:
      return false;
  }
}

const statements: Generator = ({ node }, text) =>
  isEffect(node, text) ? [{ kind: 'statement', ...placeOf(node), after: ';' }] : [];

const awaitsOrNames = /\bawait\b|[A-Za-z_$][\w$]*/g;

/**
 * True if the order of two statements can matter: one of them awaits, or both use the same name.
 * False for two assertions.
 */
function mayDepend(first: string, second: string): boolean {
  if (/^assert\w*\(/.test(first) && /^assert\w*\(/.test(second)) return false;
  const names = new Set(first.match(awaitsOrNames));
  const others = second.match(awaitsOrNames) ?? [];
  return names.has('await') || others.some((name) => name === 'await' || names.has(name));
}

const orders: Generator = ({ node }, text) => {
  const body = nodesIn(node['body']);
  if (node.type !== 'BlockStatement' && node.type !== 'Program') return [];
  return body.flatMap((first, at): Found[] => {
    const second = body[at + 1];
    if (second === undefined || !isEffect(first, text) || !isEffect(second, text)) return [];
    if (!mayDepend(textOf(text, first), textOf(text, second))) return [];
    const between = text.slice(first.end, second.start);
    const after = `${textOf(text, second)}${between}${textOf(text, first)}`;
    return [{ kind: 'order', start: first.start, end: second.end, after }];
  });
};

const generators: readonly Generator[] = [
  conditions,
  conjuncts,
  operators,
  numbers,
  extremes,
  awaits,
  returns,
  statements,
  orders,
];

export function typescriptEdits(file: string, text: string, embedded: Embedded): Edit[] {
  const edits: Edit[] = [];
  let loggedUpTo = 0;
  walk(parse(file, text), (visit) => {
    const { node, scope, reach } = visit;
    if (node.type === 'IfStatement' && onlyLogs(node, text))
      loggedUpTo = Math.max(loggedUpTo, node.end);
    if (node.start < loggedUpTo) return;
    for (const generate of generators)
      for (const found of generate(visit, text)) edits.push({ ...found, scope, reach });
    for (const found of embeddedEdits(visit, text, embedded))
      edits.push({ ...found, scope, reach });
  });
  return edits;
}

/**
 * Returns the bodies of all functions. The body at index `n` has the number `n + 1` in
 * `Edit.reach`. For a block, `at` is after the opening brace, and `end` after the closing one.
 */
export function functionBodies(
  file: string,
  text: string,
): { at: number; end: number; isBlock: boolean }[] {
  const bodies: { at: number; end: number; isBlock: boolean }[] = [];
  walk(parse(file, text), ({ node }) => {
    if (!isFunction(node)) return;
    const body = node['body'];
    if (!isNode(body))
      throw new Error(`${file} has a function without a body at offset ${node.start}`);
    const isBlock = body.type === 'BlockStatement' || body.type === 'FunctionBody';
    bodies.push({ at: isBlock ? body.start + 1 : body.start, end: body.end, isBlock });
  });
  return bodies;
}
