import { expect, inject, it } from 'vitest';
import { equivalents } from './equivalents.ts';
import { mutantsOf } from './generate.ts';
import { describeMutant } from './report.ts';
import { type Room, rooms } from './rooms.ts';
import { judgeAll, type Task } from './run/run.ts';
import { checkout } from './run/test-files.ts';
import { sample } from './sample.ts';

const seed = 1;
/** The time limit allows for a busy machine. On a quiet machine the test takes about 30 s. */
const timeoutMs = 600_000;
const struck = new Set(equivalents.map(({ id }) => id));

function roomNamed(name: string): Room {
  const room = rooms.find((one) => one.name === name);
  if (room === undefined) throw new Error(`there is no room ${name}`);
  return room;
}

/** The room `store` with only one of its files. The tests in `near` take a few seconds. */
const outcomes: Room = {
  ...roomNamed('store'),
  files: ['packages/store/src/assignments/outcomes.ts'],
  near: [
    'packages/store/src/assignments/{outcomes,node-endings}.test.ts',
    'packages/store/src/endings/late-outcomes.test.ts',
  ],
};

function chosenFrom(room: Room, n: number): Task[] {
  const mutants = mutantsOf(checkout, room).filter(({ id }) => !struck.has(id));
  return sample(mutants, seed, n).map((mutant) => ({ room, mutant }));
}

it(
  'the tests kill a mutant each of domain, signing and store',
  async () => {
    const tasks = [
      ...chosenFrom(roomNamed('domain'), 1),
      ...chosenFrom(roomNamed('signing'), 1),
      ...chosenFrom(outcomes, 1),
    ];
    const judged = await judgeAll(tasks, {
      servers: inject('testServers'),
      workersCount: 1,
      nearOnly: true,
      testFiles: [],
      passesMax: null,
      onBaseline: () => {},
      onJudged: () => {},
    });
    expect(judged).toHaveLength(tasks.length);
    const survivors = judged.filter(({ verdict }) => verdict.kind === 'survived');
    expect(survivors.map(({ mutant }) => describeMutant(mutant))).toStrictEqual([]);
  },
  timeoutMs,
);
