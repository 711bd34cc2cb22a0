import { writeFileSync } from 'node:fs';
import { Client } from 'pg';
import { afterAll, afterEach, beforeEach, inject } from 'vitest';
import type { Reach } from './reach.ts';

/**
 * Runs around every test file of a mutation run. Skips the tests after the first failure, and can
 * record the code that the test file reaches.
 */

declare module 'vitest' {
  export interface ProvidedContext {
    /** The path of the file to which a `Reach` is written, or an empty string to record nothing. */
    mutationReachFile: string;
    /** The path of the file with the `Plan` of the run, or an empty string. */
    mutationPlanFile: string;
  }
}

declare global {
  // eslint-disable-next-line no-var -- only `var` makes it a member of `globalThis`
  var svcMutationReach: Set<string> | undefined;
}

/**
 * The most characters of an SQL statement that is recorded. Longer ones are left out, because they
 * only insert the data of a test.
 */
const statementCharactersMax = 20_000;
const statementsMax = 5_000;

const isPlanned = inject('mutationPlanFile') !== '';
let hasFailed = false;

beforeEach((context) => {
  if (hasFailed) context.skip();
});

afterEach(({ task }) => {
  hasFailed ||= !isPlanned && task.result?.state === 'fail';
});

const file = inject('mutationReachFile');
if (file !== '') collectInto(file);

function collectInto(reachFile: string): void {
  const outside = new Set<string>();
  const statements = new Set<string>();
  globalThis.svcMutationReach = outside;
  globalThis.svcMutationTests = undefined;
  const note = (sent: unknown) => {
    if (typeof sent !== 'string' || sent.length > statementCharactersMax) return;
    if (statements.size < statementsMax) statements.add(sent);
  };
  const send: unknown = Reflect.get(Client.prototype, 'query');
  if (typeof send !== 'function') throw new Error('the client of pg has no method query');
  Reflect.set(Client.prototype, 'query', function query(this: Client, ...words: unknown[]) {
    const [first] = words;
    note(typeof first === 'object' && first !== null ? Reflect.get(first, 'text') : first);
    return Reflect.apply(send, this, words);
  });
  afterAll(() => {
    const tests = [...(globalThis.svcMutationTests ?? [])];
    const reach: Reach = {
      functions: [
        ...new Set([outside, ...tests.map(([, entered]) => entered)].flatMap((s) => [...s])),
      ],
      outside: [...outside],
      tests: Object.fromEntries(tests.map(([id, entered]) => [id, [...entered]])),
      statements: [...statements],
    };
    writeFileSync(reachFile, JSON.stringify(reach));
  });
}
