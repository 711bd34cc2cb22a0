import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

/**
 * Checks that product code reads every exported value, except the `oracles` below. Tests do not
 * count as readers, unlike in `pnpm unused`.
 */

const checkoutDir = path.resolve(import.meta.dirname, '../..');
// This configuration leaves out `packages/client` and the testkit.
const configuration = 'test/architecture/knip.product.json';

/**
 * Exports that only tests or developers' commands read, each with the reason why it stays. The test
 * fails if product code reads one of them.
 */
const oracles: Readonly<Record<string, string>> = {
  'infra/local/src/pgbouncer/server.ts startPgbouncer':
    'test/pgbouncer starts it before Postgres; `npm start` needs no pooler',
  'infra/local/src/chromium-binary.ts chromiumBinary': 'tests find and fetch the program with it',
  'infra/local/src/index.ts pgbouncerBinary': 'tests find and fetch the program with it',
  'infra/local/src/index.ts areUsable': 'test/failover takes Debian’s Postgres',
  'infra/local/src/index.ts fetchPackages': 'test/failover takes Debian’s Postgres',
  'infra/local/src/index.ts tryProgram': 'test/failover takes Debian’s Postgres',
  'infra/local/src/index.ts libraryPath': 'test/failover starts Debian’s Postgres',
  'infra/local/src/index.ts postgresAccount': 'test/failover starts Debian’s Postgres',
  'infra/local/src/prometheus-binary.ts prometheusPrograms': '`pnpm alerts` runs promtool',
  'infra/local/src/kubectl-binary.ts kubectlBinary': '`pnpm manifests` builds with it',
  'packages/runtime/src/index.ts allServices': 'test/metrics scrapes each service',
  'packages/runtime/src/index.ts logCatalogue': '`pnpm logs:docs` writes docs/LOGS.md from it',
  'packages/runtime/src/index.ts logMembers': '`pnpm logs:docs` writes docs/LOGS.md from it',
  'packages/node-agent/src/index.ts nodeLogCatalogue': '`pnpm logs:docs` reads it',
  'packages/node-agent/src/index.ts nodeLogMembers': '`pnpm logs:docs` reads it',
  'packages/domain/src/ledger.ts planHold': 'tests compare the statement of a hold with it',
  'packages/domain/src/usage-caps.ts capUsage':
    'tests of the store and test/hostile compare the caps in SQL with it',
  'packages/domain/src/limits.ts rateLimitPerSecondDefault': 'the default of a column repeats it',
  'packages/domain/src/fair-share.ts askForSlot':
    'the Lua script of the registry is compared with it',
  'packages/domain/src/limits.ts rateLimitBurstDefault': 'the default of a column repeats it',
  'packages/domain/src/limits.ts lowBalanceThresholdDefaultMicros':
    'the default of a column repeats it',
  'packages/store/src/index.ts attemptClaimMs': 'tests advance the clock past a claim',
  'packages/store/src/index.ts openStore': 'fixtures open a store without waiting for migrations',
  'packages/store/src/index.ts eventPlace': 'tests seal and read rows directly',
  'packages/store/src/index.ts payloadPlace': 'tests seal and read rows directly',
  'packages/store/src/index.ts responsePlace': 'tests seal and read rows directly',
};

interface KnipReport {
  readonly issues: readonly {
    readonly file: string;
    readonly exports: readonly { readonly name: string }[];
    readonly files: readonly unknown[];
  }[];
}

/** Returns `<file> <name>` for each unread export, and `<file>` for each file without an importer. */
function unreadIn(cwd: string): string[] {
  const { stdout, stderr } = spawnSync(
    path.join(checkoutDir, 'node_modules/.bin/knip'),
    // `exports` means exported values. Types are not checked.
    ['--config', configuration, '--include', 'exports,files', '--reporter', 'json'],
    { cwd, encoding: 'utf8' },
  );
  if (stdout === '') throw new Error(stderr);
  const report: KnipReport = JSON.parse(stdout);
  return report.issues.flatMap(({ file, exports, files }) => [
    ...files.map(() => file),
    ...exports.map(({ name }) => `${file} ${name}`),
  ]);
}

test('product code reads every export of product code, except the oracles of tests', () => {
  expect(unreadIn(checkoutDir).toSorted()).toEqual(Object.keys(oracles).toSorted());
});

test('an export that only a test reads is found, and so is a file that nothing imports', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-unread-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const write = (file: string, text: string): void => {
    mkdirSync(path.join(dir, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(dir, file), text);
  };
  write('package.json', '{"name": "outline", "private": true, "workspaces": ["packages/*"]}');
  mkdirSync(path.join(dir, path.dirname(configuration)), { recursive: true });
  copyFileSync(path.join(checkoutDir, configuration), path.join(dir, configuration));
  write('packages/domain/package.json', '{"name": "@svc/domain", "exports": "./src/index.ts"}');
  write('packages/domain/src/index.ts', `export { limitMs } from './limits.ts';\n`);
  write('packages/domain/src/limits.ts', 'export const limitMs = 1;\n');
  write('packages/domain/src/limits.test.ts', `import { limitMs } from './limits.ts';\nlimitMs;\n`);
  write('packages/domain/src/forgotten.ts', 'export const nothing = 1;\n');
  expect(unreadIn(dir)).toEqual(
    expect.arrayContaining([
      'packages/domain/src/forgotten.ts',
      'packages/domain/src/index.ts limitMs',
    ]),
  );
});
