import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const checkout = path.resolve(import.meta.dirname, '../..');

function textOf(source: string | ArrayBuffer | NodeJS.TypedArray): string {
  return typeof source === 'string' ? source : new TextDecoder().decode(source);
}

/**
 * Changes the source of these files (relative to the checkout) when Node loads them into this
 * process. The files on disk do not change.
 */
export function changeSources(changes: ReadonlyMap<string, (text: string) => string>): void {
  const byUrl = new Map(
    [...changes].map(([file, change]) => [pathToFileURL(path.join(checkout, file)).href, change]),
  );
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const change = byUrl.get(url);
      if (change === undefined || loaded.source === undefined || loaded.source === null)
        return loaded;
      return { ...loaded, source: change(textOf(loaded.source)) };
    },
  });
}
