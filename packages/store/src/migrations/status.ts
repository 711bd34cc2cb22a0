import type { Migration } from './files.ts';
import { floorOf, splitStatements } from './statements.ts';

/** Says if a build works with the schema of a database (decision 33). */
export type SchemaStatus =
  /** `pending`: known migrations that are not applied. `newer`: applied ones that are not known. */
  | { kind: 'usable'; pending: string[]; newer: string[] }
  /** `lacking`: the pending migrations that this build needs. */
  | { kind: 'behind'; pending: string[]; lacking: string[] }
  /** The schema is too new for this build, or a migration was changed or left incomplete. */
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
 * Migrations that this build works without, for example one that only adds an index to make a query
 * faster. A service may start before they are applied.
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
