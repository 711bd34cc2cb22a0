import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

/**
 * Checks that rules of .dependency-cruiser.mjs refuse `forbiddenImports`. The rules run on a
 * temporary workspace with the real manifests and stub sources.
 */

interface ForbiddenImport {
  readonly rule: string;
  readonly file: string;
  readonly code: string;
}

const forbiddenImports: readonly ForbiddenImport[] = [
  {
    rule: 'services-do-not-import-each-other',
    file: 'services/gateway/src/forbidden-service.ts',
    code: `import '@svc/dispatcher';`,
  },
  {
    rule: 'services-import-packages-only',
    file: 'services/gateway/src/forbidden-client.ts',
    code: `import '@svc/client';`,
  },
  {
    rule: 'packages-do-not-import-services',
    file: 'packages/admin-cli/src/forbidden-service.ts',
    code: `import '@svc/gateway';`,
  },
  {
    rule: 'domain-imports-only-its-own',
    file: 'packages/domain/src/forbidden-runtime.ts',
    code: `import '@svc/runtime';`,
  },
  {
    rule: 'queue-imports-only-its-own',
    file: 'packages/queue/src/forbidden-type.ts',
    code: `import type { Sample } from '@svc/store';\nexport type Alias = Sample;`,
  },
  {
    rule: 'node-agent-imports-only-its-own',
    file: 'packages/node-agent/src/forbidden-store.ts',
    code: `import '@svc/store';`,
  },
  {
    rule: 'local-imports-only-its-own',
    file: 'infra/local/src/forbidden-store.ts',
    code: `import '@svc/store';`,
  },
  {
    rule: 'testkit-imports-only-its-own',
    file: 'packages/testkit/src/forbidden-queue.ts',
    code: `import '@svc/queue';`,
  },
  {
    rule: 'only-tests-import-the-testkit',
    file: 'services/webhooks/src/forbidden-testkit.ts',
    code: `import '@svc/testkit';`,
  },
  {
    rule: 'only-tests-import-fixtures',
    file: 'services/webhooks/src/forbidden-fixture.ts',
    code: `import './sample.fixture.ts';`,
  },
  {
    rule: 'only-tests-import-vitest',
    file: 'services/webhooks/src/forbidden-vitest.ts',
    code: `import 'vitest';`,
  },
  {
    rule: 'domain-and-client-are-pure',
    file: 'packages/domain/src/forbidden-fs.ts',
    code: `import 'node:fs';`,
  },
  {
    rule: 'the-generated-client-stays-in-the-store',
    file: 'services/settlement/src/forbidden-client.ts',
    code: `import '../../../packages/store/src/generated/client.ts';`,
  },
  {
    rule: 'by-the-front-door',
    file: 'services/settlement/src/forbidden-path.ts',
    code: `import '../../../packages/domain/src/index.ts';`,
  },
  {
    rule: 'sql-only-in-the-store',
    file: 'services/gateway/src/forbidden-sql.ts',
    code: `import 'pg';`,
  },
  {
    rule: 'redis-only-in-the-queue',
    file: 'services/gateway/src/forbidden-redis.ts',
    code: `import type { Redis } from 'ioredis';\nexport type Alias = Redis;`,
  },
  {
    rule: 'nothing-missing',
    file: 'services/gateway/src/forbidden-nothing.ts',
    code: `import './not-there.ts';`,
  },
  {
    rule: 'no-circles',
    file: 'packages/domain/src/forbidden-circle.ts',
    code: `import './forbidden-circle.ts';`,
  },
];

const checkoutDir = path.resolve(import.meta.dirname, '../..');
const outlineDir = mkdtempSync(path.join(tmpdir(), 'svc-boundaries-'));
afterAll(() => rmSync(outlineDir, { recursive: true, force: true }));

function write(file: string, text: string): void {
  const target = path.join(outlineDir, file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, text);
}

function drawOutline(): void {
  for (const file of ['.dependency-cruiser.mjs', 'tsconfig.json', 'tsconfig.base.json']) {
    copyFileSync(path.join(checkoutDir, file), path.join(outlineDir, file));
  }
  write('package.json', '{"name": "outline", "type": "module"}');
  mkdirSync(path.join(outlineDir, 'node_modules/@svc'), { recursive: true });
  const manifests = ['packages/*/package.json', 'services/*/package.json', 'infra/*/package.json'];
  for (const file of globSync(manifests, { cwd: checkoutDir })) {
    const room = path.dirname(file);
    write(file, readFileSync(path.join(checkoutDir, file), 'utf8'));
    // One of these two files is the entry of the room, except in admin-cli, whose entry is
    // `program.ts`.
    write(`${room}/src/index.ts`, 'export type Sample = string;\n');
    write(`${room}/src/run.ts`, 'export type Sample = string;\n');
    symlinkSync(
      path.join(outlineDir, room),
      path.join(outlineDir, 'node_modules/@svc', path.basename(room)),
    );
  }
  write('services/webhooks/src/sample.fixture.ts', 'export type Sample = string;\n');
  write('packages/store/src/generated/client.ts', 'export type Client = string;\n');
  for (const library of ['pg', 'ioredis', 'vitest']) {
    write(`node_modules/${library}/package.json`, `{"name": "${library}", "main": "index.js"}`);
    write(`node_modules/${library}/index.js`, 'export {};\n');
  }
}

/** The violations that depcruise reports, as `<file>: <rule>`. */
let found: string[];

beforeAll(() => {
  drawOutline();
  for (const { file, code } of forbiddenImports) write(file, `${code}\n`);
  const depcruise = path.join(checkoutDir, 'node_modules/.bin/depcruise');
  const words = ['--config', '.dependency-cruiser.mjs', '--output-type', 'json'];
  const { stdout } = spawnSync(depcruise, [...words, 'packages', 'services', 'infra'], {
    cwd: outlineDir,
    encoding: 'utf8',
  });
  const report: { summary: { violations: { from: string; rule: { name: string } }[] } } =
    JSON.parse(stdout);
  found = report.summary.violations.map(({ from, rule }) => `${from}: ${rule.name}`);
});

it.each(forbiddenImports)('$rule refuses $file', ({ rule, file }) => {
  expect(found).toContain(`${file}: ${rule}`);
});

it('refuses nothing in files that break no rule', () => {
  const forbidden = new Set(forbiddenImports.map(({ file }) => file));
  const others = found.filter((violation) => !forbidden.has(violation.split(': ')[0] ?? ''));
  expect(others).toStrictEqual([]);
});
