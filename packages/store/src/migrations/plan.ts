import type { Migration } from './files.ts';
import { floorOf, isOutsideTransaction, splitStatements } from './statements.ts';

/** How long a statement or a migration blocks requests that use the same table. */
type Blocks =
  | 'nothing'
  /** Requests wait for a lock, but only while Postgres changes its catalogue. */
  | 'for_a_moment'
  /**
   * Requests wait until the statement or the migration ends. Also used if the effect is not known.
   */
  | 'until_done';

export interface PlannedMigration {
  readonly name: string;
  readonly blocks: Blocks;
  readonly why: readonly string[];
  /**
   * False if the migration is a single statement that commits on its own, for example
   * `CREATE INDEX CONCURRENTLY`.
   */
  readonly inTransaction: boolean;
  /**
   * After this migration, only builds that know the migration `raisesFloorTo` work with the
   * database. Null if this migration excludes no build.
   */
  readonly raisesFloorTo: string | null;
}

interface Effect {
  readonly blocks: Blocks;
  readonly why: string;
}

interface Rule extends Effect {
  readonly pattern: RegExp;
}

const none: Effect = { blocks: 'nothing', why: '' };
const volatileDefault =
  / DEFAULT [^,]*\b(?:gen_random_uuid|uuidv7|random|clock_timestamp|nextval|svc_now)\b/i;

/** The rules for the actions of `ALTER TABLE`. The first rule that matches decides. */
const alterRules: readonly Rule[] = [
  {
    pattern: /^ADD COLUMN .* STORED\b/i,
    blocks: 'until_done',
    why: 'a stored generated column rewrites the table',
  },
  {
    pattern: /^ADD COLUMN .*\b(?:BIG|SMALL)?SERIAL\b|^ADD COLUMN .* AS IDENTITY\b/i,
    blocks: 'until_done',
    why: 'numbering all rows rewrites the table',
  },
  {
    pattern: new RegExp(`^ADD COLUMN .*${volatileDefault.source}`, 'i'),
    blocks: 'until_done',
    why: 'a default that calls a function may rewrite the table',
  },
  {
    pattern: /^ALTER (?:COLUMN )?\S+ (?:SET DATA )?TYPE /i,
    blocks: 'until_done',
    why: 'the change of a type may rewrite the table',
  },
  {
    pattern: /^ALTER (?:COLUMN )?\S+ SET NOT NULL/i,
    blocks: 'until_done',
    why: 'SET NOT NULL may read the whole table',
  },
  {
    pattern: /^SET (?:LOGGED|UNLOGGED|TABLESPACE)\b/i,
    blocks: 'until_done',
    why: 'SET LOGGED, UNLOGGED or TABLESPACE rewrites the table',
  },
  {
    pattern: /^VALIDATE CONSTRAINT /i,
    blocks: 'nothing',
    why: '',
  },
  {
    pattern: /^ADD CONSTRAINT .* NOT VALID$|^ADD CONSTRAINT .* USING INDEX /i,
    blocks: 'for_a_moment',
    why: 'it locks the table',
  },
  {
    pattern: /^ADD (?:CONSTRAINT|CHECK|UNIQUE|PRIMARY|FOREIGN|EXCLUDE)/i,
    blocks: 'until_done',
    why: 'adding a constraint without NOT VALID or USING INDEX reads the whole table',
  },
];

const statementRules: readonly Rule[] = [
  {
    pattern: /^CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY)/i,
    blocks: 'until_done',
    why: 'building an index without CONCURRENTLY blocks writes to the table',
  },
  {
    pattern: /^(?:UPDATE|DELETE|MERGE) |^INSERT .* SELECT /i,
    blocks: 'until_done',
    why: 'the rows that it writes stay locked until the migration ends',
  },
  {
    pattern:
      /^(?:DROP (?:TABLE|INDEX|VIEW|TRIGGER)|CREATE (?:CONSTRAINT )?TRIGGER|LOCK|ALTER INDEX)\b/i,
    blocks: 'for_a_moment',
    why: 'it locks the table',
  },
  {
    pattern:
      /^(?:CREATE (?:OR REPLACE )?(?:TABLE|VIEW|FUNCTION|PROCEDURE|SEQUENCE|TYPE)|INSERT|COMMENT|GRANT|REVOKE|SELECT|DROP (?:FUNCTION|PROCEDURE)|ALTER (?:FUNCTION|PROCEDURE|SEQUENCE))\b/i,
    ...none,
  },
];
const unrecognized: Effect = {
  blocks: 'until_done',
  why: 'its effect is not known; read the statement',
};

/**
 * Estimates from the SQL of a migration what it does to running services. Does not use a database.
 */
export function planMigration({ name, sql }: Migration): PlannedMigration {
  const statements = splitStatements(sql);
  const created = new Set(statements.map(createdTable));
  const effects = statements.map((statement) => {
    const table = changedTable(statement);
    const isNew = table !== undefined && created.has(table);
    return { statement, ...(isNew ? none : effectOf(statement)) };
  });
  const blocking = effects.filter(({ blocks }) => blocks !== 'nothing');
  const isLong = blocking.some(({ blocks }) => blocks === 'until_done');
  return {
    name,
    blocks: isLong ? 'until_done' : blocking.length > 0 ? 'for_a_moment' : 'nothing',
    why: blocking.map(({ statement, why }) => `${shortened(statement)}: ${why}`),
    inTransaction: !statements.some(isOutsideTransaction),
    raisesFloorTo: floorOf(statements),
  };
}

function effectOf(statement: string): Effect {
  if (isOutsideTransaction(statement)) return none;
  const altered = /^ALTER TABLE (?:IF EXISTS )?(?:ONLY )?\S+ (.*)$/i.exec(statement)?.[1];
  if (altered === undefined) {
    return statementRules.find(({ pattern }) => pattern.test(statement)) ?? unrecognized;
  }
  const effects = actionsOf(altered).map(
    (action): Effect =>
      alterRules.find(({ pattern }) => pattern.test(action)) ?? {
        blocks: 'for_a_moment',
        why: 'it locks the table',
      },
  );
  return (
    effects.find(({ blocks }) => blocks === 'until_done') ??
    effects.find(({ blocks }) => blocks === 'for_a_moment') ??
    none
  );
}

/** Splits the actions of `ALTER TABLE` at the commas outside parentheses and quotes. */
function actionsOf(altered: string): string[] {
  const actions: string[] = [];
  let depth = 0;
  let text = '';
  for (const [part] of altered.matchAll(/'(?:[^']|'')*'|"[^"]*"|./g)) {
    if (part === '(') depth += 1;
    if (part === ')') depth -= 1;
    if (part === ',' && depth === 0) {
      actions.push(text.trim());
      text = '';
    } else text += part;
  }
  return [...actions, text.trim()];
}

function createdTable(statement: string): string | undefined {
  return plainName(/^CREATE TABLE (?:IF NOT EXISTS )?(\S+)/i.exec(statement)?.[1]);
}

function changedTable(statement: string): string | undefined {
  return plainName(
    /^(?:ALTER TABLE (?:ONLY )?|INSERT INTO |UPDATE |CREATE (?:UNIQUE )?INDEX \S+ ON |CREATE (?:CONSTRAINT )?TRIGGER .*? ON )(\w+|"[^"]+")/i.exec(
      statement,
    )?.[1],
  );
}

function plainName(name: string | undefined): string | undefined {
  return name?.replaceAll('"', '').replace(/\($/, '');
}

const shownCharacters = 80;

function shortened(statement: string): string {
  return statement.length <= shownCharacters
    ? statement
    : `${statement.slice(0, shownCharacters - 1)}…`;
}
