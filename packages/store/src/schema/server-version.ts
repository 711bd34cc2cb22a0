type Query = <Row extends object>(sql: string) => Promise<Row[]>;

/** The oldest Postgres that the migrations work with (CONTRACT 9). */
const serverVersionMin = 15;

const versionSql = `SELECT current_setting('server_version_num') AS number,
  current_setting('server_version') AS name`;

/** Returns a sentence if the server is older than `serverVersionMin`. Changes nothing. */
export async function oldServer(query: Query): Promise<string | undefined> {
  const [row] = await query<{ number: string; name: string }>(versionSql);
  if (row === undefined || isSupported(Number(row.number))) return undefined;
  return `Postgres ${row.name} is too old: use Postgres ${serverVersionMin} or newer.`;
}

/** `versionNumber` is `server_version_num`, such as 150004 for Postgres 15.4. */
export function isSupported(versionNumber: number): boolean {
  return Math.floor(versionNumber / 10_000) >= serverVersionMin;
}
