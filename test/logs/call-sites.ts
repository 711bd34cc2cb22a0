import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isNode, nodesIn, parse, type SyntaxNode, walk } from '../mutation/generators/syntax.ts';

export interface LogCall {
  /** `<file>:<line>` of the call. */
  readonly at: string;
  readonly isAgent: boolean;
  /** Undefined for a log call of the browser executor, which the agent logs at `info`. */
  readonly level: string | undefined;
  /** The literal messages that the call may write. Empty if no message of the call is a literal. */
  readonly messages: readonly string[];
  /**
   * The literal value of `event` in the call's fields, for example `queue.job_failed`. Undefined if
   * there is none.
   */
  readonly event: string | undefined;
  readonly members: readonly string[];
}

const checkoutDir = path.resolve(import.meta.dirname, '../..');
const isTestCode = /[.]test[.]ts$|[.-]fixture[.]ts$|^packages\/testkit\/|\/generated\//;
const levels = new Set(['trace', 'debug', 'info', 'warn', 'error', 'fatal']);
const isLoggerName = /^#?(log|logger)$/;

export function logCalls(): LogCall[] {
  const files = globSync('{packages,services}/*/src/**/*.ts', { cwd: checkoutDir })
    .filter((file) => !isTestCode.test(file))
    .toSorted();
  return files.flatMap((file) =>
    logCallsIn(file, readFileSync(path.join(checkoutDir, file), 'utf8')),
  );
}

export function logCallsIn(file: string, text: string): LogCall[] {
  const isAgent = file.startsWith('packages/node-agent/');
  const calls: LogCall[] = [];
  walk(parse(file, text), ({ node }) => {
    const found = isAgent ? agentCall(node) : serviceCall(node);
    if (found === undefined) return;
    const at = `${file}:${text.slice(0, node.start).split('\n').length}`;
    calls.push({ at, isAgent, ...found });
  });
  return calls;
}

type Found = Omit<LogCall, 'at' | 'isAgent'>;

/** Reads a call such as `logger.warn({ … }, 'message')` or `logger.info('message')`. */
function serviceCall(node: SyntaxNode): Found | undefined {
  const { callee, args } = callOf(node);
  if (callee?.type !== 'MemberExpression') return undefined;
  const level = nameOf(callee['property']);
  const isLogger = args.length === 2 || isLoggerName.test(nameOf(callee['object']));
  if (!levels.has(level) || !isLogger) return undefined;
  const [fields, message] = args.length === 1 ? [undefined, args[0]] : args;
  return { level, messages: literalsOf(message), ...namedIn(fields) };
}

/**
 * Reads a call such as `log('warn', 'message', { … })`. The browser executor calls `log` without a
 * level, for example `log('form found', { … })`.
 */
function agentCall(node: SyntaxNode): Found | undefined {
  const { callee, args } = callOf(node);
  if (callee === undefined || !isLoggerName.test(nameOf(callee))) return undefined;
  const [level = ''] = literalsOf(args[0]);
  if (levels.has(level)) return { level, messages: literalsOf(args[1]), ...namedIn(args[2]) };
  return { level: undefined, messages: literalsOf(args[0]), ...namedIn(args[1]) };
}

function callOf(node: SyntaxNode): { callee?: SyntaxNode; args: readonly SyntaxNode[] } {
  if (node.type !== 'CallExpression') return { args: [] };
  const [callee] = nodesIn(node['callee']);
  const args = nodesIn(node['arguments']);
  return callee === undefined ? { args } : { callee, args };
}

/** The last name of an expression: `logger` for `logger`, `deps.logger` and `this.#deps.logger`. */
function nameOf(value: unknown): string {
  if (!isNode(value)) return '';
  if (value.type === 'MemberExpression') return nameOf(value['property']);
  return typeof value['name'] === 'string' ? value['name'] : '';
}

function literalsOf(value: unknown): string[] {
  if (!isNode(value)) return [];
  if (value.type === 'Literal') return typeof value['value'] === 'string' ? [value['value']] : [];
  if (value.type !== 'ConditionalExpression') return [];
  return [...literalsOf(value['consequent']), ...literalsOf(value['alternate'])];
}

function namedIn(fields: unknown): Pick<Found, 'event' | 'members'> {
  const properties = isNode(fields) ? nodesIn(fields['properties']) : [];
  const own = properties.filter(({ type }) => type === 'Property');
  const event = own.find(({ key }) => nameOf(key) === 'event');
  const members = own.map(({ key }) => nameOf(key)).filter((name) => name !== 'event');
  return { event: literalsOf(event?.['value'])[0], members };
}
