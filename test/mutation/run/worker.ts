import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestServers } from '@svc/testkit';
import { childEnvironment } from './child-environment.ts';
import type { Answer, Order } from './messages.ts';
import { makeMutatedTemplate } from './migration-template.ts';
import type { Plan } from './plan.ts';
import { noReach } from './reach.ts';
import { openTestFiles, type OtherText, serversVariable } from './test-files.ts';

/** This process has one vitest instance, which runs the requested test files (`workers.ts`). */

const servers: TestServers = JSON.parse(process.env[serversVariable] ?? '');
const dir = mkdtempSync(path.join(tmpdir(), 'svc-mutation-'));
process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
process.once('disconnect', () => {
  rmSync(dir, { recursive: true, force: true });
  // Kills the whole process group, because a test may block the event loop of a child of this
  // worker. Such a child would survive the worker.
  process.kill(-process.pid, 'SIGKILL');
});
const testFiles = await openTestFiles();

interface Change {
  readonly text: OtherText | undefined;
  readonly servers: TestServers;
  readonly undo: () => Promise<void>;
}

const none: Change = { text: undefined, servers, undo: async () => {} };
let change = none;

async function mutate(text: OtherText | undefined): Promise<Answer> {
  await change.undo();
  change = none;
  if (text === undefined) return { kind: 'mutated', outcome: 'ready' };
  if (!text.file.endsWith('.sql')) {
    const textFile = path.join(dir, 'mutant.ts');
    writeFileSync(textFile, text.text);
    const own = { ...servers, childEnvironment: childEnvironment(text.file, textFile) };
    change = { text, servers: own, undo: async () => {} };
    return { kind: 'mutated', outcome: 'ready' };
  }
  const template = await makeMutatedTemplate(servers, text);
  switch (template.kind) {
    case 'made':
      change = { text: undefined, servers: template.servers, undo: template.drop };
      return { kind: 'mutated', outcome: 'ready' };
    case 'same_schema':
      return { kind: 'mutated', outcome: 'same_schema' };
    case 'refused':
      return { kind: 'refused', reason: template.reason };
  }
}

async function takeBaseline(testFile: string): Promise<Answer> {
  const reachFile = path.join(dir, 'reach.json');
  writeFileSync(reachFile, JSON.stringify(noReach));
  const end = await testFiles.run(testFile, undefined, { servers, reachFile, planFile: '' });
  return { kind: 'baseline', end, reach: JSON.parse(readFileSync(reachFile, 'utf8')) };
}

/** A test that blocks the event loop, or a hook that hangs, adds no entry for this time. */
const stallMs = 120_000;
const lookMs = 5_000;

/** Ends this process if the entries of the plan do not grow for `stallMs`. */
async function runPlan(order: Extract<Order, { kind: 'run_plan' }>): Promise<Answer> {
  const { testFile, planFile } = order;
  const plan: Plan = JSON.parse(readFileSync(planFile, 'utf8'));
  let size = -1;
  let grewAt = performance.now();
  const watch = setInterval(() => {
    const now = statSync(plan.entriesFile).size;
    if (now !== size) grewAt = performance.now();
    size = now;
    if (performance.now() - grewAt > stallMs) process.kill(-process.pid, 'SIGKILL');
  }, lookMs);
  try {
    const options = { servers, reachFile: '', planFile };
    return { kind: 'run', end: await testFiles.run(testFile, order.change, options) };
  } finally {
    clearInterval(watch);
  }
}

async function answerTo(order: Order): Promise<Answer> {
  switch (order.kind) {
    case 'baseline':
      return takeBaseline(order.testFile);
    case 'mutate':
      return mutate(order.change);
    case 'run': {
      const options = { servers: change.servers, reachFile: '', planFile: '' };
      return { kind: 'run', end: await testFiles.run(order.testFile, change.text, options) };
    }
    case 'run_plan':
      return runPlan(order);
    case 'end':
      await change.undo();
      await testFiles.close();
      return { kind: 'ended' };
  }
}

process.on('message', (order: Order) => {
  void answerTo(order).then(
    (answer) => process.send?.(answer),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      process.exit(1);
    },
  );
});
process.send?.({ kind: 'ready' } satisfies Answer);
