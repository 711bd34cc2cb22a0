import { globSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { circularImports, importsIn } from './folders.ts';

const checkoutDir = path.resolve(import.meta.dirname, '../..');
const roots = globSync(['packages/*/src', 'services/*/src', 'infra/*/src'], { cwd: checkoutDir });

test.each(roots)('no folder of %s imports one that imports it', (root) => {
  expect(circularImports(importsIn(path.join(checkoutDir, root)))).toEqual([]);
});

test('imports between folders are found', () => {
  const counts = roots.map((root) => importsIn(path.join(checkoutDir, root)).length);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(1_000);
});

test('a circle of folders is found, also through a third one', () => {
  const circle = [
    { from: 'links/links.ts', to: 'runs/runs.ts' },
    { from: 'runs/ended.ts', to: 'fleet/fleet.ts' },
    { from: 'fleet/slots.ts', to: 'links/end-link.ts' },
  ];
  expect(circularImports(circle)).toEqual(circle);
});

test('imports of one direction, and those of the top of a room, are accepted', () => {
  const imports = [
    { from: 'run.ts', to: 'links/links.ts' },
    { from: 'links/links.ts', to: 'dispatcher.ts' },
    { from: 'links/links.ts', to: 'runs/runs.ts' },
    { from: 'links/links.ts', to: 'links/end-link.ts' },
  ];
  expect(circularImports(imports)).toEqual([]);
});
