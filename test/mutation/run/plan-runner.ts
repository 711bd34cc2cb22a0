import { appendFileSync, readFileSync } from 'node:fs';
import { type RunnerTask, type RunnerTestCase, TestRunner, type TestTryOptions } from 'vitest';
import { mayBeTheMachine, type Plan, type PlanEntry } from './plan.ts';

declare global {
  // eslint-disable-next-line no-var -- only `var` makes it a member of `globalThis`
  var svcMutant: string | undefined;
  // eslint-disable-next-line no-var -- only `var` makes it a member of `globalThis`
  var svcMutationTests: Map<string, ReadonlySet<string>> | undefined;
}

/** The most runs of one test for one mutant: one, another after a doubtful failure, two controls. */
const runsMax = 4;

/** One run of a test. A control is a run without a mutant. */
type Run =
  | { readonly kind: 'first_control' }
  | { readonly kind: 'mutant'; readonly id: string }
  | { readonly kind: 'control'; readonly id: string; readonly by: string }
  | { readonly kind: 'again'; readonly id: string; readonly by: string }
  | { readonly kind: 'last_control'; readonly id: string };

/**
 * Repeats each test of a file for every mutant of a `Plan`. A control follows each failure. Without
 * a plan, it notes the functions that each test enters (`Reach`).
 */
export default class PlanRunner extends TestRunner {
  readonly #plan: Plan | undefined;
  readonly #dead = new Set<string>();
  readonly #passes = new Map<string, number>();
  #outside: Set<string> | undefined;
  #isSpoiled = false;
  #rejection: string | undefined;
  #queue: Run[] = [];
  #current: Run | undefined;

  constructor(config: ConstructorParameters<typeof TestRunner>[0]) {
    super(config);
    const file: unknown = this.injectValue('mutationPlanFile');
    if (typeof file === 'string' && file !== '')
      this.#plan = JSON.parse(readFileSync(file, 'utf8'));
    // A mutant that no longer awaits a promise may be noticed only by its rejection.
    process.on('unhandledRejection', (reason) => {
      this.#rejection ??= `unhandled rejection: ${String(reason)}`;
    });
  }

  override async onBeforeRunTask(test: RunnerTask): Promise<void> {
    await super.onBeforeRunTask(test);
    if (this.#plan === undefined || test.type !== 'test') return;
    const ids = (this.#plan.tests[test.id] ?? []).filter(
      (id) => !this.#dead.has(id) && this.#passesOf(id) < (this.#plan?.passesMax ?? Infinity),
    );
    if (ids.length === 0 || this.#isSpoiled) {
      test.mode = 'skip';
      return;
    }
    const runs = ids.map((id): Run => ({ kind: 'mutant', id }));
    this.#queue = [{ kind: 'first_control' }, ...runs];
    test.repeats = ids.length * runsMax + 1;
  }

  override onBeforeTryTask(test: RunnerTestCase, options: TestTryOptions): void {
    super.onBeforeTryTask(test, options);
    if (this.#plan === undefined) {
      this.#outside ??= globalThis.svcMutationReach;
      if (this.#outside !== undefined) globalThis.svcMutationReach = new Set();
      return;
    }
    this.#rejection = undefined;
    this.#current = this.#queue.shift();
    if (this.#current === undefined) test.context.skip();
    else if (this.#current.kind === 'mutant' || this.#current.kind === 'again') {
      this.#note({ kind: 'began', id: this.#current.id });
      globalThis.svcMutant = this.#current.id;
    }
  }

  override async onAfterRetryTask(test: RunnerTestCase, options: TestTryOptions): Promise<void> {
    await super.onAfterRetryTask(test, options);
    globalThis.svcMutant = undefined;
    if (this.#plan === undefined) {
      this.#noteReach(test);
      return;
    }
    const { result } = test;
    const run = this.#current;
    if (result === undefined || run === undefined) return;
    const failure =
      result.state === 'fail'
        ? (result.errors?.at(-1)?.message ?? 'the test failed')
        : this.#rejection;
    delete result.errors;
    this.#judge(test, run, failure?.split('\n')[0]);
  }

  #noteReach(test: RunnerTestCase): void {
    const entered = globalThis.svcMutationReach;
    if (entered === undefined) return;
    globalThis.svcMutationTests ??= new Map();
    globalThis.svcMutationTests.set(test.id, entered);
    globalThis.svcMutationReach = this.#outside;
  }

  #judge(test: RunnerTestCase, run: Run, failure: string | undefined): void {
    switch (run.kind) {
      case 'first_control':
        if (failure === undefined) return;
        this.#note({ kind: 'unusable', testId: test.id });
        this.#queue = [];
        return;
      case 'mutant':
        if (failure === undefined) {
          this.#passes.set(run.id, this.#passesOf(run.id) + 1);
          this.#note({ kind: 'passed', id: run.id, testId: test.id });
        } else this.#queue.unshift({ kind: 'control', id: run.id, by: `${test.name}: ${failure}` });
        return;
      case 'control':
        if (failure !== undefined) this.#spoil(test, run.id);
        else if (mayBeTheMachine.test(run.by)) this.#queue.unshift({ ...run, kind: 'again' });
        else this.#kill(run.id, run.by);
        return;
      case 'again':
        if (failure === undefined)
          this.#note({ kind: 'unclear', id: run.id, testId: test.id, by: run.by });
        else {
          this.#kill(run.id, run.by);
          this.#queue.unshift({ kind: 'last_control', id: run.id });
        }
        return;
      case 'last_control':
        if (failure !== undefined) this.#spoil(test, run.id);
        return;
    }
  }

  #passesOf(id: string): number {
    return this.#passes.get(id) ?? 0;
  }

  #kill(id: string, by: string): void {
    this.#dead.add(id);
    this.#note({ kind: 'failed', id, by });
  }

  #spoil(test: RunnerTestCase, id: string): void {
    this.#isSpoiled = true;
    this.#queue = [];
    if (!this.#dead.has(id)) this.#note({ kind: 'spoiled', id, testId: test.id });
  }

  #note(entry: PlanEntry): void {
    if (this.#plan !== undefined)
      appendFileSync(this.#plan.entriesFile, `${JSON.stringify(entry)}\n`);
  }
}
