import { expect, it } from 'vitest';
import { luaEdits } from './lua.ts';

it('changes comparisons, conditions and added numbers, and drops statements', () => {
  const lua = `
-- a < b and c
if a < b and c == 'x < y' then
  redis.call('HSET', key('a'), n + 1)
  views = {}
end`;
  const changes = luaEdits(lua).map(
    ({ start, end, after }) => `${lua.slice(start, end)} → ${after}`,
  );
  expect(changes).toStrictEqual([
    '< → <=',
    'and → or',
    '== → ~=',
    '1 → 2',
    `a < b and c == 'x < y' → not (a < b and c == 'x < y')`,
    `redis.call('HSET', key('a'), n + 1) → `,
    'views = {} → ',
  ]);
});

it('does not change a call that continues on the next line', () => {
  expect(luaEdits(`redis.call('ZADD', (1)\n  2)`)).toStrictEqual([]);
});
