import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { plantedBugs } from './catalogue.ts';
import { plant } from './planted.ts';

/**
 * Loaded into a process before its own code (`node --import`): what it loads has the bug that
 * `FAULTS_PLANTED` names. No file is changed.
 */
const name = process.env['FAULTS_PLANTED'];
const planted = plantedBugs.find((one) => one.name === name);
if (planted === undefined) throw new Error(`there is no planted bug ${name}`);
const checkout = path.resolve(import.meta.dirname, '../../..');
const edits = Map.groupBy(
  planted.edits,
  ({ file }) => pathToFileURL(path.join(checkout, file)).href,
);

/** As Node hands it over: a text, or bytes. */
function textOf(source: string | ArrayBuffer | NodeJS.TypedArray): string {
  return typeof source === 'string' ? source : new TextDecoder().decode(source);
}

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const own = edits.get(url);
    if (own === undefined || loaded.source === undefined || loaded.source === null) return loaded;
    const text = textOf(loaded.source);
    return { ...loaded, source: own.reduce(plant, text) };
  },
});
