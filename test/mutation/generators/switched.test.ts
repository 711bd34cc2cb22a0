import { stripTypeScriptTypes } from 'node:module';
import { expect, it } from 'vitest';
import { toMutants } from '../mutant.ts';
import { switchedText } from './switched.ts';
import { typescriptEdits } from './typescript.ts';

const file = 'packages/a/src/a.ts';
const text = `
const least = 1 + 1;
function outer(a) {
  const inner = (b) => b < least;
  if (a) return inner(a);
  return inner(5);
}
const results = [outer(2), outer(1), outer(0)];
`;
const mutants = toMutants(file, text, typescriptEdits(file, text, 'none'));
const switched = switchedText(file, text, mutants);

/** Returns the results of the module. With an id, that mutant is the active one. */
function resultsWith(source: string, id?: string): unknown {
  globalThis.svcMutant = id;
  try {
    // eslint-disable-next-line typescript/no-implied-eval -- the text is generated and must run
    return new Function(`${stripTypeScriptTypes(source)}; return results;`)();
  } finally {
    globalThis.svcMutant = undefined;
  }
}

it('runs the original if no mutant is active', () => {
  expect(resultsWith(switched.text)).toStrictEqual(resultsWith(text));
});

it('runs each mutant of a function as if it were alone in the file', () => {
  const inFunctions = mutants.filter(({ id }) => switched.ids.has(id));
  expect(inFunctions.length).toBeGreaterThan(4);
  for (const { id, start, end, after } of inFunctions) {
    const alone = text.slice(0, start) + after + text.slice(end);
    expect([id, resultsWith(switched.text, id)]).toStrictEqual([id, resultsWith(alone)]);
  }
});

it('leaves out a mutant that acts when the module is loaded', () => {
  const left = mutants.filter(({ id }) => !switched.ids.has(id)).map(({ before }) => before);
  expect(left).toStrictEqual(['1', '+', '1', '2', '1', '0']);
});
