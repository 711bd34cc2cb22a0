import type { FileHandle } from 'node:fs/promises';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openHistory } from './history.ts';

const { written, disk } = vi.hoisted(() => ({
  written: [] as string[],
  disk: { isFull: false },
}));

vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:fs/promises')>();
  return {
    ...real,
    open: async (...given: Parameters<typeof real.open>): Promise<FileHandle> => {
      const handle = await real.open(...given);
      const sync = handle.sync.bind(handle);
      const appendFile = handle.appendFile.bind(handle);
      handle.appendFile = async (data, options) => {
        if (!disk.isFull) return await appendFile(data, options);
        await appendFile('{"submissionId":', options);
        throw new Error('ENOSPC: no space left on device');
      };
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

test('changes after a line that was written only in part are all on disk', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-history-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const history = await openHistory(directory);
  disk.isFull = true;
  await expect(history.assigned('sub_1', 'receipt')).rejects.toThrow('ENOSPC');
  disk.isFull = false;
  await Promise.all([history.assigned('sub_2', 'receipt'), history.assigned('sub_3', 'receipt')]);
  await history.close();
  const again = await openHistory(directory);
  onTestFinished(() => again.close());
  const ids = again.entries().map(({ submissionId }) => submissionId);
  expect(ids).toEqual(expect.arrayContaining(['sub_2', 'sub_3']));
});

test('a history keeps every submission of the last 7 days', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-history-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  // Four slots with jobs of two minutes.
  const count = 7 * 24 * 30 * 4;
  const lines = Array.from({ length: count }, (_, n) =>
    JSON.stringify({ submissionId: `sub_${n}`, receipt: 'r', atMs: Date.now() }),
  );
  await writeFile(path.join(directory, 'history.jsonl'), lines.join('\n'));
  const history = await openHistory(directory);
  onTestFinished(() => history.close());
  expect(history.entries()).toHaveLength(count);
});
