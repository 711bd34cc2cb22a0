import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import path from 'node:path';
import { cacheDir, checkoutDir, inCheckout } from '@svc/local';

export interface FormerBuild {
  readonly commit: string;
  readonly directory: string;
  readonly migrations: string;
  /**
   * True if the services of the build accept a range of schemas. Such services may start on a later
   * schema than that of their build.
   */
  readonly hasRange: boolean;
}

export type FoundFormerBuild =
  | { readonly kind: 'found'; readonly build: FormerBuild }
  | { readonly kind: 'missing'; readonly reason: string };

const rangeMigration = '20261122230000_schema_floors';

/**
 * Unpacks the build of the commit `wanted`. The default is the newest commit that lacks a migration
 * of this checkout.
 */
export function openFormerBuild(wanted?: string): FoundFormerBuild {
  const top = git('rev-parse', '--show-toplevel');
  if (top !== checkoutDir) return missing('this copy has no git history');
  const commit = wanted === undefined ? commitBefore() : git('rev-parse', `${wanted}^{commit}`);
  if (commit === undefined)
    return missing(`the git history has no commit ${wanted ?? 'before the newest migration'}`);
  const directory = path.join(cacheDir, 'former-builds', commit);
  if (!existsSync(directory)) {
    const partial = `${directory}.${process.pid}`;
    const fault = unpack(commit, partial);
    if (fault !== undefined) {
      rmSync(partial, { recursive: true, force: true });
      return missing(fault);
    }
    renameSync(partial, directory);
  }
  const migrations = path.join(directory, 'prisma/migrations');
  const hasRange = existsSync(path.join(migrations, rangeMigration));
  return { kind: 'found', build: { commit, directory, migrations, hasRange } };
}

function missing(reason: string): FoundFormerBuild {
  return { kind: 'missing', reason };
}

/**
 * Returns the last commit without the newest migration, or undefined if there is none. It is HEAD
 * if a migration is not committed yet.
 */
function commitBefore(): string | undefined {
  const committed = git('ls-tree', '--name-only', 'HEAD', 'prisma/migrations/')?.split('\n') ?? [];
  const here = readdirSync(inCheckout('prisma/migrations')).map(
    (name) => `prisma/migrations/${name}`,
  );
  if (here.some((name) => !committed.includes(name))) return git('rev-parse', 'HEAD');
  const added = git('log', '-1', '--diff-filter=A', '--format=%H', '--', 'prisma/migrations');
  return added === undefined ? undefined : git('rev-parse', '--verify', '--quiet', `${added}^`);
}

/**
 * Unpacks the commit, and gives it npm packages and a Prisma client. Returns the reason if one of
 * these steps fails, otherwise undefined.
 */
function unpack(commit: string, directory: string): string | undefined {
  mkdirSync(directory, { recursive: true });
  const archive = `git archive ${commit} | tar -x -C '${directory}'`;
  if (spawnSync('sh', ['-c', archive], { cwd: checkoutDir }).status !== 0)
    return 'git and tar cannot unpack the former commit';
  const former = (file: string) => readFileSync(path.join(directory, file), 'utf8');
  const lockfile = 'pnpm-lock.yaml';
  if (hasOnlyGrown(former(lockfile), readPresent(lockfile))) linkPackages(directory);
  else if (run(directory, 'pnpm', 'install', '--offline', '--frozen-lockfile') === undefined)
    return '`pnpm install --offline` failed for the former commit; the pnpm store of this machine may lack npm packages';
  const generated = 'packages/store/src/generated';
  const schema = 'prisma/schema.prisma';
  if (former(schema) === readPresent(schema))
    cpSync(inCheckout(generated), path.join(directory, generated), { recursive: true });
  else if (
    run(directory, 'prisma', 'generate', '--config', 'prisma/prisma.config.ts') === undefined
  )
    return 'the Prisma client of the former commit cannot be generated';
  return undefined;
}

function readPresent(file: string): string {
  return readFileSync(inCheckout(file), 'utf8');
}

/** True if the present text contains all lines of the former one, in the same order. */
function hasOnlyGrown(former: string, present: string): boolean {
  const lines = former.split('\n');
  let next = 0;
  for (const line of present.split('\n')) if (line === lines[next]) next += 1;
  return next === lines.length;
}

/**
 * Gives the former build the npm packages of this checkout. Call it only if `hasOnlyGrown` is true
 * for the lockfile.
 */
function linkPackages(directory: string): void {
  symlinkSync(inCheckout('node_modules'), path.join(directory, 'node_modules'));
  for (const modules of globSync('{packages,services,infra}/*/node_modules', {
    cwd: checkoutDir,
  })) {
    const target = path.join(directory, modules);
    // The symbolic links in the copied folder are relative. Those to `@svc` packages therefore lead
    // to the packages of the former build.
    if (existsSync(path.dirname(target)))
      cpSync(inCheckout(modules), target, { recursive: true, verbatimSymlinks: true });
  }
}

function git(...words: string[]): string | undefined {
  return run(checkoutDir, 'git', ...words)?.trim();
}

function run(cwd: string, file: string, ...words: string[]): string | undefined {
  const { status, stdout } = spawnSync(file, words, { cwd, encoding: 'utf8' });
  return status === 0 ? stdout : undefined;
}
