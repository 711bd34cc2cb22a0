import { expect, it } from 'vitest';
import type { Embedded } from './templates.ts';
import { functionBodies, typescriptEdits } from './typescript.ts';

function changes(text: string, embedded: Embedded = 'none'): string[] {
  return typescriptEdits('a.ts', text, embedded).map(
    ({ kind, start, end, after }) => `${kind}: ${text.slice(start, end)} → ${after}`,
  );
}

it('negates conditions and drops each of their sides', () => {
  expect(changes('if (a && b()) c = d ? e : f;')).toStrictEqual([
    'condition: a && b() → !(a && b())',
    'conjunct: a && b() → (a)',
    'conjunct: a && b() → (b())',
    'statement: c = d ? e : f; → ;',
    'condition: d → !(d)',
  ]);
});

it('moves bounds by one and inverts signs', () => {
  expect(changes('const a = b < 10 && c + 2n > Math.min(d, e);')).toStrictEqual([
    'conjunct: b < 10 && c + 2n > Math.min(d, e) → (b < 10)',
    'conjunct: b < 10 && c + 2n > Math.min(d, e) → (c + 2n > Math.min(d, e))',
    'bound: < → <=',
    'bound: 10 → 11',
    'bound: > → >=',
    'bound: + → -',
    'bound: 2n → 3n',
    'bound: Math.min → Math.max',
  ]);
});

it('removes awaits, changes returned values, and swaps two statements', () => {
  const text = `async function f(): Promise<boolean> {
  await a();
  b();
  if (c) return;
  return true;
}`;
  expect(changes(text)).toStrictEqual([
    'order: await a();\n  b(); → b();\n  await a();',
    'statement: await a(); → ;',
    'await: await a() → void a()',
    'statement: b(); → ;',
    'condition: c → !(c)',
    'return: return; → ;',
    'return: true → false',
  ]);
});

it('does not change types and log statements', () => {
  const text = `type A = 1 extends 2 ? 3 : 4; logger.info({ a }, 'b'); log('c', { a });
    if (a > 0) log('d'); else if (b) { logger.warn('e'); }`;
  expect(changes(text)).toStrictEqual([]);
  expect(changes(`if (a) { log('b'); go(); }`)).toStrictEqual([
    'condition: a → !(a)',
    'statement: go(); → ;',
  ]);
});

it('changes the SQL in literals, and drops inserted fragments with their condition', () => {
  const text = 'const one = db.$queryRaw`SELECT 1 FROM t WHERE a = ${x.map((y) => y)} AND b`;';
  expect(changes(text, 'sql')).toStrictEqual([
    'sql-conjunct: a = ${x.map((y) => y)} → true',
    'sql-conjunct: b → true',
  ]);
});

it('records the SQL around a change, and the constant that contains it', () => {
  const text = 'const one = `SELECT ${columns} FROM t WHERE a = 1`;';
  expect(typescriptEdits('a.ts', text, 'sql')).toMatchObject([
    { sql: ' FROM t WHERE a = 1', scope: 'one', reach: 0 },
  ]);
});

it('numbers functions as it numbers the changes in them', () => {
  const text = 'const f = () => g(() => 1 + a);';
  expect(functionBodies('a.ts', text).map(({ at }) => text.slice(at, at + 1))).toStrictEqual([
    'g',
    '1',
  ]);
  expect(typescriptEdits('a.ts', text, 'none').map(({ reach }) => reach)).toStrictEqual([2, 2]);
});

it('keeps the await of a returned value, unless a try is around it', () => {
  expect(changes('async function f() { return await g(); }')).toStrictEqual([
    'return: await g() → undefined as never',
  ]);
  expect(changes('async function f() { try { return await g(); } finally { h; } }')).toContain(
    'await: await g() → g()',
  );
});
