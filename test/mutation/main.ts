import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createMemoryDirectory, startTestServers } from '@svc/testkit';
import { changedSince } from './changed.ts';
import { equivalents } from './equivalents.ts';
import { mutantsOf } from './generate.ts';
import type { Mutant } from './mutant.ts';
import { describeMutant, meetsGoal, reportOf, scoreOf } from './report.ts';
import { rooms } from './rooms.ts';
import { judgeAll, type Task } from './run/run.ts';
import { checkout } from './run/test-files.ts';
import { sample, shares } from './sample.ts';

/** The number of mutants of a run that names neither `--n` nor its files or mutants. */
const sampleSize = 200;

/**
 * `pnpm mutate`: runs the tests against mutants of the product. Exits with 1 if a room misses its
 * goal. The options are in docs/MUTATION.md.
 */
const { values } = parseArgs({
  options: {
    room: { type: 'string', multiple: true },
    path: { type: 'string', multiple: true, default: [] },
    changed: { type: 'string' },
    seed: { type: 'string', default: '1' },
    n: { type: 'string' },
    id: { type: 'string', multiple: true },
    near: { type: 'boolean', default: false },
    test: { type: 'string', multiple: true, default: [] },
    list: { type: 'boolean', default: false },
    workers: { type: 'string', default: '2' },
    passes: { type: 'string' },
  },
});
const unknown = values.room?.find((name) => !rooms.some((room) => room.name === name));
if (unknown !== undefined) {
  const names = rooms.map(({ name }) => name).join(', ');
  process.stderr.write(`There is no room ${unknown}. The rooms are ${names}.\n`);
  process.exit(2);
}

const changed = values.changed === undefined ? undefined : changedSince(checkout, values.changed);
if (changed === 'unknown_revision') {
  process.stderr.write(`git does not know the revision ${values.changed}.\n`);
  process.exit(2);
}
const isChosen = ({ file, id }: Mutant) =>
  (values.path.length === 0 || values.path.some((start) => file.startsWith(start))) &&
  (changed?.has(file) ?? true) &&
  (values.id?.includes(id) ?? true);
const wanted = rooms.filter(({ name }) => values.room?.includes(name) ?? true);
const generated = wanted.map((room) => mutantsOf(checkout, room).filter(isChosen));
const counts = generated.map(({ length }) => length);
const isWhole = values.path.length > 0 || changed !== undefined || values.id !== undefined;
const sizes =
  isWhole && values.n === undefined ? counts : shares(counts, Number(values.n ?? sampleSize));
const tasks = wanted.flatMap((room, at): Task[] =>
  sample(generated[at] ?? [], Number(values.seed), sizes[at] ?? 0).map((mutant) => ({
    room,
    mutant,
  })),
);
const struckIds = new Set(equivalents.map(({ id }) => id));
const isStruck = ({ mutant }: Task) => struckIds.has(mutant.id);

if (values.list) {
  const lines = tasks.map(
    (task) => `${isStruck(task) ? 'equivalent ' : ''}${describeMutant(task.mutant)}\n`,
  );
  // Wait for the write before the exit. Otherwise the end of the output may not reach a pipe.
  await new Promise((resolve) => process.stdout.write(lines.join(''), resolve));
  process.exit(0);
}

const memory = createMemoryDirectory();
if (memory !== undefined) process.env['TMPDIR'] = memory;
const servers = await startTestServers();
const close = async () => {
  await servers.close();
  if (memory !== undefined) rmSync(memory, { recursive: true, force: true });
};
const stop = async () => {
  await close();
  process.exit(130);
};
process.once('SIGINT', () => void stop());
process.once('SIGTERM', () => void stop());
try {
  const { close: _, ...shared } = servers;
  let done = 0;
  const toRun = tasks.filter((task) => !isStruck(task));
  const beganAt = performance.now();
  const judged = await judgeAll(toRun, {
    servers: shared,
    workersCount: Number(values.workers),
    nearOnly: values.near,
    testFiles: values.test,
    passesMax: values.passes === undefined ? null : Number(values.passes),
    onBaseline: ({ testFile, passed, durationMs }) => {
      const end = passed ? 'passed' : 'FAILED (no mutant is tested with this file)';
      process.stderr.write(`baseline ${testFile} ${end} after ${seconds(durationMs)}\n`);
    },
    onJudged: ({ mutant, verdict, durationMs }) => {
      done += 1;
      const by =
        'by' in verdict
          ? ` by ${verdict.by}`
          : 'testFilesCount' in verdict
            ? ` ${verdict.testFilesCount} test files`
            : '';
      const text = `${describeMutant(mutant)}\n    ${verdict.kind}${by}`;
      process.stderr.write(`[${done}/${toRun.length}] ${seconds(durationMs)} ${text}\n`);
    },
  });
  const totalMs = performance.now() - beganAt;
  const scores = wanted
    .filter((room) => tasks.some((task) => task.room === room))
    .map((room) =>
      scoreOf(room, judged, tasks.filter((task) => task.room === room && isStruck(task)).length),
    );
  process.stderr.write(`${seconds(totalMs / Math.max(1, judged.length))} per mutant\n\n`);
  process.stdout.write(reportOf(scores, judged));
  process.exitCode = scores.every(meetsGoal) ? 0 : 1;
} finally {
  await close();
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
