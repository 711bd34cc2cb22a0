import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createCloser } from './closer.ts';
import { isPidAlive } from './pid.fixture.ts';
import { parseLogLine } from './service-process.ts';
import { supervise } from './supervise.ts';

const bound = { timeout: 30_000, interval: 50 };

function codeOf(version: string): string {
  return `
    console.log(JSON.stringify({ msg: 'ready', version: ${version}, pid: process.pid }));
    process.on('SIGTERM', () => process.exit(0));
    setInterval(() => {}, 1_000);
  `;
}

it('in watch mode a process starts again with its new code, also after code that does not run', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-watch-'));
  const entry = path.join(dir, 'entry.mjs');
  const closer = createCloser();
  onTestFinished(async () => {
    await closer.close();
    rmSync(dir, { recursive: true });
  });
  const reports: string[] = [];
  const ready: { version: unknown; pid: number }[] = [];
  const write = (version: string) => writeFileSync(entry, codeOf(version));
  const isRunning = (version: number) => () => ready.at(-1)?.version === version;
  /**
   * Writes the code again until `isSeen` returns true, because Node misses a change that is made
   * before it watches the file.
   */
  const change = (version: string, isSeen: () => boolean) =>
    vi.waitUntil(async () => {
      write(version);
      return await vi.waitUntil(isSeen, { timeout: 3_000, interval: 50 }).catch(() => false);
    }, bound);

  write('1');
  await supervise(
    {
      name: 'watched',
      entry,
      env: { PATH: process.env['PATH'] },
      onLine(line) {
        const { msg, version, pid } = parseLogLine(line) ?? {};
        if (msg === 'ready') ready.push({ version, pid: Number(pid) });
      },
    },
    {
      logsDir: dir,
      closer,
      report: (line) => reports.push(line),
      giveUp: (error) => reports.push(String(error)),
      isWatching: true,
    },
  );
  await change('2', isRunning(2));
  await change('this is no code', () =>
    reports.some((line) => line.startsWith('watched: failed running')),
  );
  await change('3', isRunning(3));

  expect(reports[0]).toMatch(/^watched: restarting/);
  await closer.close();
  expect(ready.filter(({ pid }) => isPidAlive(pid))).toStrictEqual([]);
});
