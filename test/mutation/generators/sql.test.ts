import { expect, it } from 'vitest';
import { statementHead } from './sql-tokens.ts';
import { sqlEdits } from './sql.ts';

function changes(sql: string, isFragment = false): string[] {
  return sqlEdits(sql, isFragment).map(
    ({ start, end, after }) => `${sql.slice(start, end)} → ${after}`,
  );
}

it('makes each conjunct of a WHERE true, and each side of an OR false', () => {
  const sql = `SELECT a FROM t WHERE id = $1 AND (x IS NULL OR x BETWEEN 1 AND 2) ORDER BY a LIMIT 1`;
  expect(changes(sql)).toStrictEqual([
    'id = $1 → true',
    '(x IS NULL OR x BETWEEN 1 AND 2) → true',
    'x IS NULL → false',
    'x BETWEEN 1 AND 2 → false',
    'ORDER BY a → ',
  ]);
});

it('reads a named parameter as one word, also if it is named like a clause', () => {
  expect(changes('SELECT a FROM t WHERE state = ANY($from) AND id = $order')).toStrictEqual([
    'state = ANY($from) → true',
    'id = $order → true',
  ]);
});

it('changes subqueries, joins and functions too', () => {
  const sql = `CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.a IS NULL THEN RETURN NEW; END IF;
    PERFORM FROM t JOIN u ON u.id = t.id WHERE EXISTS (SELECT FROM v WHERE v.id = t.id);
    RETURN NEW; END $$;`;
  expect(changes(sql)).toStrictEqual([
    'NEW.a IS NULL → true',
    'u.id = t.id → true',
    'EXISTS (SELECT FROM v WHERE v.id = t.id) → true',
    'v.id = t.id → true',
  ]);
});

it('keeps the old value of each column of an UPDATE', () => {
  expect(changes(`UPDATE t SET a = 1, b = (SELECT 2) FROM u`)).toStrictEqual([
    '1 → t.a',
    '(SELECT 2) → t.b',
  ]);
  expect(changes(`UPDATE t AS x SET a = 1`)).toStrictEqual(['1 → x.a']);
  expect(
    changes(`INSERT INTO t (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET a = excluded.a`),
  ).toStrictEqual(['excluded.a → t.a']);
  expect(changes('ALTER TABLE t ALTER COLUMN a SET DEFAULT 1')).toStrictEqual([]);
});

it('drops row locks, and their NOWAIT and SKIP LOCKED', () => {
  expect(changes(`SELECT 1 FROM t FOR UPDATE OF t SKIP LOCKED`)).toStrictEqual([
    'FOR UPDATE OF t SKIP LOCKED → ',
    'SKIP LOCKED → ',
  ]);
  expect(changes(`SELECT 1 FROM t FOR NO KEY UPDATE`)).toStrictEqual(['FOR NO KEY UPDATE → ']);
});

it('weakens checks, unique keys and conflicts', () => {
  expect(changes(`ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0 AND b IN (1, 2))`)).toStrictEqual([
    'a > 0 → true',
    'b IN (1, 2) → true',
    '> → >=',
  ]);
  expect(changes(`CREATE UNIQUE INDEX i ON t (a) WHERE b = 'x'`)).toStrictEqual([
    'UNIQUE → ',
    `b = 'x' → true`,
  ]);
  expect(changes(`INSERT INTO t VALUES (1) ON CONFLICT (a) DO NOTHING`)).toStrictEqual([
    'ON CONFLICT (a) DO NOTHING → ',
  ]);
});

it('reads a fragment as a condition, and skips quotes and comments', () => {
  expect(changes(`AND e.type = 'a AND b' -- AND c = 1`, true)).toStrictEqual([
    `e.type = 'a AND b' → true`,
  ]);
});

it('names a statement by its first words', () => {
  const sql = 'CREATE TABLE a (b int);\nCREATE UNIQUE INDEX i ON a (b);';
  expect(statementHead(sql, sql.indexOf('UNIQUE'))).toBe('CREATE UNIQUE INDEX I ON A');
});
