import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createTestDatabase, type TestDatabase } from '@svc/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';

const checkoutDir = path.resolve(import.meta.dirname, '..');
const schemaFile = path.join(checkoutDir, 'prisma/schema.prisma');
const driftExitCode = 2;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

/**
 * Runs the command of the root script `migrations:check`, but with the file `schema` in place of
 * `prisma/schema.prisma`.
 */
async function compareMigrationsWith(schema: string): Promise<{ code: number; output: string }> {
  const { scripts } = JSON.parse(readFileSync(path.join(checkoutDir, 'package.json'), 'utf8'));
  const words: string[] = scripts['migrations:check']
    .replace('prisma/schema.prisma', schema)
    .split(' ');
  const [command = '', ...args] = words;
  const child = spawn(path.join(checkoutDir, 'node_modules/.bin', command), args, {
    cwd: checkoutDir,
    env: { ...process.env, DATABASE_URL: database.ownerUrl, CHECKPOINT_DISABLE: '1' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  await once(child, 'close');
  return { code: child.exitCode ?? -1, output };
}

it('the migrations create exactly the tables of the Prisma schema', async () => {
  const { code, output } = await compareMigrationsWith('prisma/schema.prisma');
  expect(output).toContain('No difference detected');
  expect(code).toBe(0);
});

it('a schema that differs from the migrations is reported, with exit code 2', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-drift-'));
  try {
    const drifted = path.join(dir, 'schema.prisma');
    const model = 'model Unmigrated {\n  id Int @id\n\n  @@map("unmigrated")\n}\n';
    writeFileSync(drifted, `${readFileSync(schemaFile, 'utf8')}\n${model}`);
    const { code, output } = await compareMigrationsWith(drifted);
    expect(output).toContain('unmigrated');
    expect(code).toBe(driftExitCode);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

it('a comparison drops its shadow database', async () => {
  await compareMigrationsWith('prisma/schema.prisma');
  const left = await database.query(
    `SELECT datname FROM pg_database WHERE datname LIKE 'prisma_migrate_shadow%'`,
  );
  expect(left).toStrictEqual([]);
});
