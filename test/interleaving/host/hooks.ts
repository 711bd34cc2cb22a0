import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { applyEdit, type SourceEdit } from '../../faults/injected-bugs/injected-bug.ts';
import { orderBugs } from '../injected-bugs/catalogue.ts';

/**
 * Gives the product's modules simulated timers, clocks and ids, and the agent a simulated
 * WebSocket. Libraries keep the real ones. This module must run before the product is loaded.
 */
const checkout = path.resolve(import.meta.dirname, '../../..');
const root = `${pathToFileURL(checkout).href}/`;
const productPath = /^(packages|services)\/[^/]+\/src\/(?!generated\/)/;
const isProduct = (url: string): boolean =>
  url.startsWith(root) && productPath.test(url.slice(root.length));
const urlOf = (file: string): string => pathToFileURL(path.join(import.meta.dirname, file)).href;

const replaced = new Map([
  ['node:timers/promises', urlOf('timers-promises.ts')],
  ['node:crypto', urlOf('crypto.ts')],
]);
const agentSocket = /\/packages\/node-agent\/src\/socket\.ts$/;

const globalNames = [
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'performance',
];
const readsClock = /\bDate\.now\(|\bnew Date\(\)/;

function textOf(source: string | ArrayBuffer | NodeJS.TypedArray): string {
  return typeof source === 'string' ? source : new TextDecoder().decode(source);
}

/**
 * Adds an import of the simulated globals that the module uses. It goes on the first line, so the
 * line numbers of errors stay correct.
 */
function withSimulatedGlobals(text: string): string {
  if (text.startsWith('#!')) return text;
  const names = globalNames.filter((name) => new RegExp(`(?<![.\\w])${name}\\b[.(]`).test(text));
  if (readsClock.test(text)) names.push('Date');
  if (names.length === 0) return text;
  return `import { ${names.join(', ')} } from '${urlOf('globals.ts')}'; ${text}`;
}

function bugEdits(): readonly SourceEdit[] {
  const at = process.argv.indexOf('--bug');
  const name = at === -1 ? undefined : process.argv[at + 1];
  if (name === undefined) return [];
  const bug = orderBugs.find((one) => one.name === name);
  if (bug === undefined)
    throw new Error(`there is no injected bug ${name}; see test/interleaving/injected-bugs`);
  return bug.edits;
}

/**
 * Raises the product's time limit of a transaction, because the normal limit could end a
 * transaction at a moment that the seed has not chosen.
 */
const raisedLimits: readonly SourceEdit[] = [
  {
    file: 'packages/store/src/connection/query.ts',
    from: 'const transactionTimeoutMs = 10_000;',
    to: 'const transactionTimeoutMs = 3_600_000;',
  },
];

const edits = Map.groupBy([...raisedLimits, ...bugEdits()], ({ file }) => root + file);

registerHooks({
  resolve(specifier, context, nextResolve) {
    const parent = context.parentURL ?? '';
    if (isProduct(parent)) {
      const url = replaced.get(specifier);
      if (url !== undefined) return { url, shortCircuit: true };
      if (specifier === 'ws' && agentSocket.test(parent))
        return { url: urlOf('ws.ts'), shortCircuit: true };
    }
    return nextResolve(specifier, context);
  },
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!isProduct(url) || loaded.source === undefined || loaded.source === null) return loaded;
    const text = (edits.get(url) ?? []).reduce(applyEdit, textOf(loaded.source));
    return { ...loaded, source: withSimulatedGlobals(text) };
  },
});
