import type { Migration } from './files.ts';
import { floorOf, splitStatements } from './statements.ts';

/**
 * The answer to the question if a build works with the schema of a database. The schema must be
 * neither too old nor too new:
 *
 * - Not too old: the database has every migration that the build knows, except those in
 *   `worksWithout` and those that raise the schema floor. These two kinds may be missing.
 * - Not too new: the build knows every migration that a row of `schema_floors` names as
 *   `needs_migration`. An applied migration adds such a row if older builds cannot work with the
 *   database any more.
 */
export type SchemaStatus =
  /** `pending`: known migrations that are not applied. `newer`: applied ones that are not known. */
  | { kind: 'usable'; pending: string[]; newer: string[] }
  | { kind: 'behind'; pending: string[]; lacking: string[] }
  | { kind: 'unknown'; reason: string };

export interface AppliedMigration {
  readonly migration_name: string;
  readonly checksum: string;
  readonly finished_at: Date | null;
}

export interface SchemaFloor {
  readonly migration_name: string;
  readonly needs_migration: string;
}

/** `floors` is null if the database has no table of floors yet. */
export interface SchemaRecord {
  readonly applied: readonly AppliedMigration[];
  readonly floors: readonly SchemaFloor[] | null;
}

/**
 * Migrations that this build works without, such as an index that only makes a query faster.
 * Services of this build may start while such a migration is still running.
 */
const worksWithout: readonly string[] = [];

export const appliedSql =
  'SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY migration_name';
export const floorsSql =
  'SELECT migration_name, needs_migration FROM schema_floors ORDER BY migration_name';

export function compareSchema(
  known: readonly Migration[],
  { applied, floors }: SchemaRecord,
  optional: readonly string[] = worksWithout,
): SchemaStatus {
  const knownByName = new Map(known.map((migration) => [migration.name, migration]));
  const newer: string[] = [];
  for (const row of applied) {
    const migration = knownByName.get(row.migration_name);
    if (migration === undefined) newer.push(row.migration_name);
    else {
      const fault = faultOf(migration, row);
      if (fault !== undefined) return { kind: 'unknown', reason: fault };
    }
  }
  for (const floor of floors ?? []) {
    if (knownByName.has(floor.needs_migration)) continue;
    const reason = `migration ${floor.migration_name} needs a build that knows migration ${floor.needs_migration}. Run such a build`;
    return { kind: 'unknown', reason };
  }
  const done = new Set(applied.map((row) => row.migration_name));
  const pending = known.filter(({ name }) => !done.has(name));
  const lacking = pending.filter(
    ({ name, sql }) => !optional.includes(name) && floorOf(splitStatements(sql)) === null,
  );
  const names = pending.map(({ name }) => name);
  const [first] = newer;
  if (first !== undefined && (lacking.length > 0 || floors === null)) {
    const reason = `the database has migration ${first}, which this build does not know. Run a build that knows it`;
    return { kind: 'unknown', reason };
  }
  if (lacking.length === 0) return { kind: 'usable', pending: names, newer };
  return { kind: 'behind', pending: names, lacking: lacking.map(({ name }) => name) };
}

function faultOf({ name, checksum }: Migration, row: AppliedMigration): string | undefined {
  if (row.finished_at === null)
    return `another tool left migration ${name} incomplete. Undo its changes, set rolled_back_at of its row in _prisma_migrations, and run \`svc migrate\``;
  if (checksum !== row.checksum)
    return `migration ${name} was changed after it was applied. Run a build that contains it unchanged`;
  return undefined;
}
