import type { FileHandle } from 'node:fs/promises';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openHistory } from './history.ts';

const { written } = vi.hoisted(() => ({ written: [] as string[] }));

vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:fs/promises')>();
  return {
    ...real,
    open: async (...given: Parameters<typeof real.open>): Promise<FileHandle> => {
      const handle = await real.open(...given);
      const sync = handle.sync.bind(handle);
      handle.sync = async () => {
        await sync();
        written.push(path.basename(String(given[0])));
      };
      return handle;
    },
    rename: async (from: string, to: string) => {
      await real.rename(from, to);
      written.push(`${path.basename(from)} to ${path.basename(to)}`);
    },
  };
});

test('a history that cannot be read is not replaced by an empty one', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-history-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await mkdir(path.join(directory, 'history.jsonl'));
  await expect(openHistory(directory)).rejects.toThrow('EISDIR');
});

test('a history that is written again survives a power loss: its directory is on disk, too', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-history-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const history = await openHistory(directory);
  await history.close();
  const [file = ''] = written;
  expect(written).toEqual([
    file,
    `${file} to ${file.replace('.new', '')}`,
    path.basename(directory),
  ]);
});
