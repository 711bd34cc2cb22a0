/**
 * The parts of SQL in which a semicolon does not end a statement: comments, quoted text, quoted
 * names and dollar-quoted bodies.
 */
const opaque = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$)[\s\S]*?\1/;
const token = new RegExp(`${opaque.source}|;|[^;]`, 'g');

/**
 * Splits SQL into its statements. Removes comments, but not inside quotes or a dollar-quoted body.
 * Replaces each run of white space with one space.
 */
export function splitStatements(sql: string): string[] {
  const statements: string[] = [];
  let text = '';
  const end = (): void => {
    const statement = text.replaceAll(/\s+/g, ' ').trim();
    if (statement !== '') statements.push(statement);
    text = '';
  };
  for (const [part] of sql.matchAll(token)) {
    if (part === ';') end();
    else if (part.startsWith('--') || part.startsWith('/*')) text += ' ';
    else text += part;
  }
  end();
  return statements;
}

const outsideTransaction = [
  /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY /i,
  /^DROP INDEX CONCURRENTLY /i,
  /^CALL svc_backfill\s*\(/i,
];

/**
 * True if the statement itself commits, for example `CREATE INDEX CONCURRENTLY`. Such a statement
 * cannot run in a transaction.
 */
export function isOutsideTransaction(statement: string): boolean {
  return outsideTransaction.some((pattern) => pattern.test(statement));
}

/**
 * The name of the index that a `CREATE INDEX CONCURRENTLY` creates, with quotes if it has any.
 * Undefined if the statement names no such index.
 */
export function concurrentIndex(statement: string): string | undefined {
  const pattern = /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY (?:IF NOT EXISTS )?("?\w+"?) ON /i;
  return pattern.exec(statement)?.[1];
}

/**
 * Returns the `needs_migration` that `statements` insert into `schema_floors`: from then on, a
 * build must know this migration. Null if `statements` insert none.
 */
export function floorOf(statements: readonly string[]): string | null {
  const pattern = /^INSERT INTO "?schema_floors"?.* VALUES \('[^']+', '([^']+)'\)$/i;
  for (const statement of statements) {
    const needs = pattern.exec(statement)?.[1];
    if (needs !== undefined) return needs;
  }
  return null;
}
