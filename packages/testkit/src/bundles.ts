import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { adminCliEntry, inCheckout, nodeAgentEntry, serviceEntry, serviceNames } from '@svc/local';
import { type Plugin, rolldown } from 'rolldown';

/** The main file of a process that runs commands of `svc` one after another. */
export const svcHostEntry = inCheckout('packages/admin-cli/src/svc-host.fixture.ts');
const entries = [...serviceNames.map(serviceEntry), adminCliEntry, nodeAgentEntry, svcHostEntry];
const sources = ['{packages,services}/*/src/**/*.ts', '{packages,services}/*/package.json'];
/**
 * Not in the bundles: native modules, the large `playwright-core`, and `in-page`. Functions of
 * `in-page` go to a browser as text, so the bundler must not rename them.
 */
const external = /^(?:msgpackr-extract|pg-native|playwright-core)$|\/in-page\//;

/**
 * Returns the directory of the bundles. Later runs use the same bundles until the sources change. A
 * start from a bundle takes half of the CPU that a start from the sources takes.
 */
export async function bundleProcesses(): Promise<string> {
  const directory = inCheckout('.local/cache/bundles', sourcesHash());
  if (existsSync(directory)) return directory;
  const partial = `${directory}.${process.pid}`;
  // Each main file is bundled separately. Otherwise two main files could get into one output file,
  // and a process would run both.
  for (const entry of entries) {
    const bundle = await rolldown({
      input: { main: entry },
      platform: 'node',
      logLevel: 'silent',
      plugins: [builtInModules, externalModules, ownLocations],
    });
    await bundle.write({ dir: path.join(partial, nameOf(entry)), format: 'esm' });
    await bundle.close();
  }
  removeOldBundles(path.dirname(directory));
  try {
    renameSync(partial, directory);
  } catch (error) {
    // If another run has created the directory first, its bundles are used.
    rmSync(partial, { recursive: true, force: true });
    if (!existsSync(directory)) throw error;
  }
  return directory;
}

/** The age above which bundles are removed. Another run may still use newer ones. */
const bundlesMsMax = 24 * 3_600_000;

function removeOldBundles(parent: string): void {
  for (const name of readdirSync(parent)) {
    const directory = path.join(parent, name);
    const made = statSync(directory, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (Date.now() - made > bundlesMsMax) rmSync(directory, { recursive: true, force: true });
  }
}

export function bundleOf(directory: string, entry: string): string {
  return path.join(directory, nameOf(entry), 'main.js');
}

function nameOf(entry: string): string {
  return path.relative(inCheckout(), entry).replace(/\.ts$/, '').replaceAll('/', '-');
}

function sourcesHash(): string {
  const hash = createHash('sha256').update(readFileSync(inCheckout('pnpm-lock.yaml')));
  for (const file of globSync(sources, { cwd: inCheckout() }).toSorted()) {
    if (!file.includes('node_modules') && !file.endsWith('.test.ts'))
      hash.update(file).update(readFileSync(inCheckout(file)));
  }
  return hash.digest('hex').slice(0, 16);
}

const builtIn = '\0built-in:';

/**
 * Loads Node's modules with `process.getBuiltinModule`, because an `import` reads all exports of a
 * module. For example, reading `WebSocket` of `node:http` takes 70 ms of CPU.
 */
const builtInModules: Plugin = {
  name: 'built-in-modules',
  resolveId(id) {
    // `node:module` stays an import, because the code that the bundler adds imports it too.
    return isBuiltin(id) && id !== 'node:module' ? `${builtIn}${id}` : null;
  },
  load(id) {
    if (!id.startsWith(builtIn)) return null;
    const name = JSON.stringify(id.slice(builtIn.length));
    return `module.exports = process.getBuiltinModule(${name});`;
  },
};

const externalModules: Plugin = {
  name: 'external-modules',
  async resolveId(id, importer, { kind }) {
    if (!external.test(id) || importer === undefined) return null;
    const resolved = await this.resolve(id, importer, { kind, skipSelf: true });
    return { id: resolved?.id ?? id, external: 'absolute' };
  },
};

/**
 * Replaces `import.meta.dirname` and `import.meta.url` by those of the source file. Bundled code
 * then still finds other files by their location in the checkout.
 */
const ownLocations: Plugin = {
  name: 'own-locations',
  transform(code, id) {
    if (id.includes('node_modules') || !code.includes('import.meta')) return null;
    return code
      .replaceAll('import.meta.dirname', JSON.stringify(path.dirname(id)))
      .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href));
  },
};
