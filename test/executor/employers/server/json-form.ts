import { createFields, type ReceivedFile, type ReceivedForm } from './multipart.ts';
import type { World } from './world.ts';

export type JsonValues = Readonly<Record<string, unknown>>;

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Returns the file that was uploaded to `address`, or undefined if there is none. If `name` is a
 * string, the returned file has this name.
 */
function uploadAt(world: World, address: unknown, name: unknown): ReceivedFile | undefined {
  if (typeof address !== 'string') return undefined;
  const found = world.uploads.get(decodeURIComponent(new URL(address, 'http://store').pathname));
  return found !== undefined && typeof name === 'string' ? { ...found, name } : found;
}

/**
 * Reads the values of an application. The members `<field>_url` and `<field>_url_filename` name a
 * file that the page has uploaded.
 */
export function formOfJson(values: JsonValues, world: World): ReceivedForm {
  const { fields, add } = createFields();
  const files: ReceivedFile[] = [];
  for (const [name, value] of Object.entries(values)) {
    if (name.endsWith('_url_filename')) continue;
    if (name.endsWith('_url')) {
      const file = uploadAt(world, value, values[`${name}_filename`]);
      if (file !== undefined) files.push({ ...file, field: name.slice(0, -'_url'.length) });
    } else if (Array.isArray(value)) for (const one of value) add(name, textOf(one));
    else add(name, textOf(value));
  }
  return { fields, files };
}
