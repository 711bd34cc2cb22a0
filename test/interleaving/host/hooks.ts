import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Makes the product's own modules run on a simulated machine: their timers, clocks and random ids
 * come from globals.ts and crypto.ts, and the agent's socket from ws.ts. No file is changed, and
 * libraries keep the real ones. Must run before the product is loaded.
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

/** On the first line, so that the lines of errors stay where they are. */
function withSimulatedGlobals(text: string): string {
  if (text.startsWith('#!')) return text;
  const names = globalNames.filter((name) => new RegExp(`(?<![.\\w])${name}\\b[.(]`).test(text));
  if (readsClock.test(text)) names.push('Date');
  if (names.length === 0) return text;
  return `import { ${names.join(', ')} } from '${urlOf('globals.ts')}'; ${text}`;
}

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
    return { ...loaded, source: withSimulatedGlobals(textOf(loaded.source)) };
  },
});
