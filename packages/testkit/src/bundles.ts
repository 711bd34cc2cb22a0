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

/** Runs commands of `svc` one after another. */
export const svcHostEntry = inCheckout('packages/admin-cli/src/svc-host.fixture.ts');
/** The main file of each process that a stack under test can start. */
const entries = [...serviceNames.map(serviceEntry), adminCliEntry, nodeAgentEntry, svcHostEntry];
const sources = ['{packages,services}/*/src/**/*.ts', '{packages,services}/*/package.json'];
/**
 * Not bundled: native modules, which cannot be; the client of a browser, which is large and rarely loaded;
 * and the functions that run in a page. These go there as text, and a bundle may give them other names.
 */
const external = /^(?:msgpackr-extract|pg-native|playwright-core)$|\/in-page\//;

/**
 * Bundles every process of a stack by itself, and returns the directory. Bundled together, two
 * processes may share a file, and then one of them also runs the main file of the other. A start from a
 * bundle takes about half of the CPU of a start from the sources, which are 1,000 modules. The
 * directory is named after the content of the sources, so a second call finds the bundles of the
 * first.
 */
export async function bundleProcesses(): Promise<string> {
  const directory = inCheckout('.local/cache/bundles', sourcesHash());
  if (existsSync(directory)) return directory;
  const partial = `${directory}.${process.pid}`;
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
    // Another run has created the directory first.
    rmSync(partial, { recursive: true, force: true });
    if (!existsSync(directory)) throw error;
  }
  return directory;
}

/** Another run may still use the bundles of today. */
const bundlesMsMax = 24 * 3_600_000;

function removeOldBundles(parent: string): void {
  for (const name of readdirSync(parent)) {
    const directory = path.join(parent, name);
    const made = statSync(directory, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (Date.now() - made > bundlesMsMax) rmSync(directory, { recursive: true, force: true });
  }
}

/** The bundle of a process in a directory of `bundleProcesses`. */
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
 * Takes Node's modules from the process, without `import`. An `import` reads every export, and that
 * of `WebSocket` in `node:http` loads all of undici: 70 ms of CPU.
 */
const builtInModules: Plugin = {
  name: 'built-in-modules',
  resolveId(id) {
    // The runtime of a bundle itself imports `node:module`.
    return isBuiltin(id) && id !== 'node:module' ? `${builtIn}${id}` : null;
  },
  load(id) {
    if (!id.startsWith(builtIn)) return null;
    const name = JSON.stringify(id.slice(builtIn.length));
    return `module.exports = process.getBuiltinModule(${name});`;
  },
};

/** Resolves such modules from the location of their importer, and leaves them out of the bundle. */
const externalModules: Plugin = {
  name: 'external-modules',
  async resolveId(id, importer, { kind }) {
    if (!external.test(id) || importer === undefined) return null;
    const resolved = await this.resolve(id, importer, { kind, skipSelf: true });
    return { id: resolved?.id ?? id, external: 'absolute' };
  },
};

/**
 * Replaces `import.meta` by the source's location, so that files find other files by their
 * location.
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
