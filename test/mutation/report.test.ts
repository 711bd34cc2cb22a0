import { expect, it } from 'vitest';
import type { Mutant } from './mutant.ts';
import { meetsGoal, reportOf, scoreOf } from './report.ts';
import type { Room } from './rooms.ts';
import type { Verdict } from './run/judge.ts';
import type { Judged } from './run/run.ts';

const room: Room = { name: 'r', files: [], embedded: 'none', near: [], far: [], goal: 75 };

function judged(verdict: Verdict): Judged {
  const mutant: Mutant = {
    id: 'abc',
    file: 'a.ts',
    line: 7,
    scope: 'f',
    kind: 'bound',
    before: '<',
    after: '<=',
    start: 0,
    end: 1,
    reach: 0,
  };
  return { room, mutant, verdict, durationMs: 1 };
}

const killed = judged({ kind: 'killed', by: 'a test', testFile: 'a.test.ts' });
const timeout = judged({ kind: 'timeout', by: 'a test', testFile: 'a.test.ts' });
const survived = judged({ kind: 'survived', testFilesCount: 1 });
const same = judged({ kind: 'same_schema' });

it('a timeout counts as killed, and an equivalent mutant does not count', () => {
  const score = scoreOf(room, [killed, killed, timeout, survived, same], 2);
  expect(score).toMatchObject({ killed: 3, timeouts: 1, survived: 1, equivalent: 3, percent: 75 });
  expect(meetsGoal(score)).toBe(true);
});

it('a room below its goal is named on the last line, and each survivor with its place', () => {
  const score = scoreOf(room, [killed, survived], 0);
  expect(meetsGoal(score)).toBe(false);
  const report = reportOf([score], [killed, survived]);
  expect(report).toContain('r survived abc bound a.ts:7 (f)\n    < → <=');
  expect(report.trimEnd().split('\n').at(-1)).toBe(
    'mutate: 1 killed, 1 survived, 0 unclear, 0 equivalent; goals missed in r',
  );
});

it('a mutant that could not be judged counts as not killed, and is listed', () => {
  const unclear = judged({ kind: 'unclear', by: 'a connection was lost' });
  const score = scoreOf(room, [killed, unclear], 0);
  expect(score).toMatchObject({ killed: 1, survived: 0, unclear: 1, percent: 50 });
  expect(reportOf([score], [killed, unclear])).toContain('r unclear abc bound a.ts:7');
});

it('a room without mutants meets its goal', () => {
  expect(meetsGoal(scoreOf(room, [], 3))).toBe(true);
});
