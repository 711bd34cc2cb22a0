import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { changedSince } from './changed.ts';

it('names the files that differ from a revision, and new ones, but no deleted ones', () => {
  const checkout = mkdtempSync(path.join(tmpdir(), 'svc-changed-'));
  onTestFinished(() => rmSync(checkout, { recursive: true }));
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...words], {
      cwd: checkout,
    });
  const write = (name: string, text: string) => writeFileSync(path.join(checkout, name), text);
  git('init', '--quiet');
  for (const name of ['same', 'committed', 'edited', 'deleted']) write(name, '1');
  git('add', '.');
  git('commit', '--quiet', '--message', 'first');
  write('committed', '2');
  git('commit', '--quiet', '--all', '--message', 'second');
  write('edited', '2');
  write('new', '1');
  rmSync(path.join(checkout, 'deleted'));
  expect(changedSince(checkout, 'HEAD~1')).toStrictEqual(new Set(['committed', 'edited', 'new']));
  expect(changedSince(checkout, 'nothing')).toBe('unknown_revision');
});
