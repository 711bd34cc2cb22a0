import { fileURLToPath } from 'node:url';
import { defineConfig } from 'prisma/config';

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

// Prisma downloads its native schema engine from a host that is not a package registry.
// tools/schema-engine.mjs replaces the engine, so that Prisma works wherever npm works.
process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ??= here('./tools/schema-engine.mjs');

const databaseUrl = process.env['DATABASE_URL'];

export default defineConfig({
  schema: here('./schema.prisma'),
  migrations: { path: here('./migrations') },
  // The URL is left out if it is not set: `generate`, `validate` and a diff of two schemas do not
  // need it.
  ...(databaseUrl === undefined ? {} : { datasource: { url: databaseUrl } }),
});
