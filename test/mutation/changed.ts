import { spawnSync } from 'node:child_process';

/** The files that differ from a revision of git, and the files that git does not track yet. */
export function changedSince(
  checkout: string,
  revision: string,
): ReadonlySet<string> | 'unknown_revision' {
  const git = (...words: string[]) => spawnSync('git', words, { cwd: checkout, encoding: 'utf8' });
  const known = git('rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`);
  if (known.status !== 0) return 'unknown_revision';
  const lists = [
    git('diff', '--name-only', '--relative', '--diff-filter=d', known.stdout.trim()),
    git('ls-files', '--others', '--exclude-standard'),
  ];
  return new Set(lists.flatMap(({ stdout }) => stdout.split('\n')).filter(Boolean));
}
