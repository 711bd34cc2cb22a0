import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { serviceNames } from '@svc/local';
import { expect, onTestFinished, test } from 'vitest';
import { readCompose } from '../support/compose.ts';
import { contentFaults } from './contents.ts';

/**
 * The checks of this file need no built image. `infra/docker/verify.sh` makes the checks that need
 * one.
 */

const checkoutDir = path.resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(path.join(checkoutDir, file), 'utf8');
const dockerfile = read('infra/docker/Dockerfile');
const lastStage = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));

test('the image starts from nothing and runs as the user that Kubernetes names', () => {
  expect(lastStage).toMatch(/^\nFROM scratch$/m);
  const [, user] = /^USER (\d+):\d+$/m.exec(lastStage) ?? [];
  const [, inCluster] = /runAsUser: (\d+)/.exec(read('infra/kubernetes/base/gateway.yaml')) ?? [];
  expect(user).toBe(inCluster);
  const cache = read('infra/docker/compile-cache.sh');
  expect(cache).toContain(`--userspec=${user}:${user}`);
});

test('Node reads the compile cache where the build fills it', () => {
  const [, workdir] = /^WORKDIR (\S+)$/m.exec(dockerfile) ?? [];
  expect(read('infra/docker/compile-cache.sh')).toContain('cache=$PWD/compile-cache');
  expect(lastStage).toContain(`NODE_COMPILE_CACHE=${workdir}/compile-cache`);
});

test.each([...serviceNames, 'migrate', 'svc'])(
  '%s has a read-only root and no privileges',
  (name) => {
    const {
      read_only: isReadOnly,
      cap_drop: dropped,
      security_opt: options,
    } = readCompose().services[name] ?? {};
    expect({ isReadOnly, dropped, options }).toEqual({
      isReadOnly: true,
      dropped: ['ALL'],
      options: ['no-new-privileges:true'],
    });
  },
);

const needed = [
  '/usr/local/bin/node',
  '/usr/bin/flock',
  '/etc/passwd',
  '/app/package.json',
  '/app/CHANGELOG.md',
  '/app/services/gateway/guides/quick-start.md',
];

test('an image of the needed files is accepted, and one without any of them is not', () => {
  expect(contentFaults(needed)).toEqual([]);
  for (const file of needed) {
    const others = needed.filter((one) => one !== file);
    expect(contentFaults(others)).toEqual([`${file} is missing`]);
  }
});

test.each([
  ['/root/.npm/_cacache/index', "a package manager's cache or database"],
  ['/usr/local/bin/npx', 'a package manager'],
  ['/bin/sh', 'a shell'],
  ['/app/packages/store/src/hold.test.ts', 'a test'],
  ['/app/node_modules/.pnpm/pg@8/node_modules/pg/index.d.ts', 'a type declaration of a dependency'],
  ['/app/node_modules/.pnpm/pg@8/node_modules/pg/index.js.map', 'a source map of a dependency'],
  ['/app/node_modules/.pnpm/vitest@5.1.0/package.json', 'a development dependency'],
  ['/app/.env', 'a development file or a settings file'],
])('%s is found', (file, what) => {
  expect(contentFaults([...needed, file])).toEqual([`${file} is ${what}`]);
});

test('a library of a dependency whose path looks like a test is allowed', () => {
  const file = '/app/packages/store/node_modules/some/index.test.ts';
  expect(contentFaults([...needed, file])).toEqual([]);
});

function writeCheckout(dir: string): void {
  const write = (file: string, text = '') => {
    mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
    writeFileSync(path.join(dir, file), text);
  };
  for (const file of ['package.json', 'CHANGELOG.md', 'prisma/migrations/1/migration.sql'])
    write(file);
  for (const name of ['services/one', 'packages/used', 'packages/unused', 'packages/store'])
    for (const file of ['src/main.ts', 'src/main.test.ts', 'src/a.fixture.ts'])
      write(path.join(name, file));
  for (const name of ['admin-cli', 'node-agent']) write(`packages/${name}/src/main.ts`);
  for (const file of ['index.js', 'index.js.map', 'index.d.ts', 'index.d.mts'])
    write(`node_modules/.pnpm/pg@8/node_modules/pg/${file}`);
  const prisma = 'node_modules/.pnpm/@prisma+client@7_x/node_modules/@prisma/client/runtime';
  for (const file of ['client.js', 'query_compiler_small_bg.postgresql.mjs'])
    write(`${prisma}/${file}`);
  for (const file of ['small_bg.mysql.mjs', 'fast_bg.postgresql.mjs'])
    write(`${prisma}/query_compiler_${file}`);
  const used = `import("@prisma/client/runtime/query_compiler_small_bg.postgresql.mjs")`;
  write('packages/store/src/generated/internal/class.ts', used);
  const links = path.join(dir, 'services/one/node_modules/@svc');
  mkdirSync(links, { recursive: true });
  for (const name of ['used', 'store'])
    symlinkSync(`../../../../packages/${name}`, path.join(links, name));
}

test.skipIf(process.platform !== 'linux')(
  'the root of the image has what production code imports, and nothing else of the checkout',
  () => {
    const dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'svc-image-root-')));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    const checkout = path.join(dir, 'app');
    writeCheckout(checkout);
    const script = path.join(checkoutDir, 'infra/docker/image-root.sh');
    execFileSync('sh', [script, path.join(dir, 'root')], { cwd: checkout });
    const root = path.join(dir, 'root');
    const listed = execFileSync('find', [root, '-type', 'f', '-printf', '/%P\n'], {
      encoding: 'utf8',
    });
    const files = listed.trimEnd().split('\n');
    const runtime = 'node_modules/.pnpm/@prisma+client@7_x/node_modules/@prisma/client/runtime';
    const inCheckout = files.filter((file) => file.startsWith(`${checkout}/`));
    expect(inCheckout.map((file) => file.slice(checkout.length + 1)).toSorted()).toEqual(
      [
        'CHANGELOG.md',
        'node_modules/.pnpm/pg@8/node_modules/pg/index.js',
        'package.json',
        'packages/admin-cli/src/main.ts',
        'packages/node-agent/src/main.ts',
        'packages/store/src/generated/internal/class.ts',
        'packages/store/src/main.ts',
        'packages/used/src/main.ts',
        'prisma/migrations/1/migration.sql',
        'services/one/src/main.ts',
        `${runtime}/client.js`,
        `${runtime}/query_compiler_small_bg.postgresql.mjs`,
      ].toSorted(),
    );
    for (const program of ['/usr/local/bin/node', '/usr/bin/flock', '/usr/bin/env'])
      expect(files).toContain(program);
  },
);
