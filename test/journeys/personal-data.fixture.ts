import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { type ServiceName, serviceNames } from '@svc/local';
import { closeRedis, connectRedis, waitForRedis } from '@svc/queue';
import type { TestStack } from '@svc/testkit';

/** A unique text that a test puts into its data. A search for the text shows where the data went. */
export function newMarker(place: string): string {
  return `mark${place}${randomBytes(12).toString('hex')}`;
}

/**
 * The marker in plain text, in hex and in base64. There are three base64 forms, because the
 * characters depend on the number of bytes before the marker, modulo 3.
 */
function forms(marker: string): string[] {
  const bytes = Buffer.from(marker);
  const inBase64 = [0, 1, 2].map((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]);
    // Keeps only the base64 characters whose bits all come from the marker.
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor((shifted.length * 8) / 6);
    return shifted.toString('base64').slice(first, last);
  });
  return [marker, bytes.toString('hex'), ...inBase64];
}

export function found(
  haystack: Buffer | string,
  markers: Readonly<Record<string, string>>,
): string[] {
  const bytes = Buffer.from(haystack);
  return Object.entries(markers).flatMap(([place, marker]) =>
    forms(marker).some((form) => bytes.includes(form)) ? [place] : [],
  );
}

const filesBelow = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(dir, name))
    .filter((file) => statSync(file).isFile());

const contentsOf = (files: readonly string[]) =>
  Buffer.concat(files.map((file) => readFileSync(file)));

/**
 * The bytes of all files of a stack's Redis. The append-only files contain the writes of the whole
 * run, so they also show data that Redis has deleted.
 */
export async function redisFiles({ redisUrl }: TestStack): Promise<Buffer> {
  const redis = connectRedis(redisUrl, 'producer');
  await waitForRedis(redis, 5_000);
  const [, dir = ''] = [await redis.config('GET', 'dir')].flat().map(String);
  await closeRedis(redis);
  return contentsOf(filesBelow(dir));
}

export async function databaseFiles({ query }: TestStack): Promise<Buffer> {
  await query('CHECKPOINT');
  const [row] = await query<{ dir: string; oid: string }>(
    `SELECT current_setting('data_directory') AS dir, oid::text FROM pg_database WHERE datname = current_database()`,
  );
  const { dir = '', oid = '' } = row ?? {};
  const files = ['base', 'pg_wal'].map((name) => path.join(dir, name, name === 'base' ? oid : ''));
  return contentsOf(files.flatMap(filesBelow));
}

export function allLogs(stack: TestStack): string {
  return serviceNames.flatMap((service) => stack.logs(service)).join('\n');
}

export async function allMetrics(stack: TestStack): Promise<string> {
  const read = async (service: ServiceName) =>
    (await fetch(`${stack.adminUrl(service)}/metrics`)).text();
  return (await Promise.all(serviceNames.map(read))).join('\n');
}
