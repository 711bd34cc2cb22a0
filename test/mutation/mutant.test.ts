import { expect, it } from 'vitest';
import { typescriptEdits } from './generators/typescript.ts';
import { applyMutant, type Mutant, toMutants } from './mutant.ts';

function mutantsOf(text: string, file = 'a.ts'): Mutant[] {
  return toMutants(file, text, typescriptEdits(file, text, 'none'));
}

function idsIn(file: string): string[] {
  return mutantsOf(text, file).map(({ id }) => id);
}

const text = 'function f() { return a < b; }\nfunction g() { return a < b || a < b; }\n';

it('every mutant has its own id, even if the same change is possible twice', () => {
  const ids = mutantsOf(text).map(({ id }) => id);
  expect(ids.length).toBeGreaterThan(5);
  expect(new Set(ids).size).toBe(ids.length);
});

it('an id does not change when lines move and code is indented again', () => {
  const moved = `// A comment.\n\nconst other = 1;\n${text.replaceAll('{ return', '{\n    return')}`;
  expect(mutantsOf(moved).map(({ id }) => id)).toStrictEqual(mutantsOf(text).map(({ id }) => id));
});

it('an id does not change when the file moves to another folder of the same src', () => {
  expect(idsIn('packages/a/src/b/c.ts')).toStrictEqual(idsIn('packages/a/src/c.ts'));
  expect(idsIn('packages/b/src/c.ts')).not.toStrictEqual(idsIn('packages/a/src/c.ts'));
});

it('a mutant is applied only at its place, and never to a changed text', () => {
  const last = mutantsOf(text).findLast(({ before }) => before === '<');
  if (last === undefined) throw new Error('no bound was found');
  expect(applyMutant(text, last)).toBe(text.replace(/<(?=[^<]*$)/, '<='));
  expect(last.line).toBe(2);
  expect(() => applyMutant(`x${text}`, last)).toThrow('a.ts has changed');
});
