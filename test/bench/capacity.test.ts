import { readFileSync } from 'node:fs';
import path from 'node:path';
import { checkoutDir } from '@svc/local';
import { expect, test } from 'vitest';
import {
  capacityOf,
  capacityVerdict,
  costOf,
  costs,
  deviationMax,
  measuredShapes,
  productsPart,
} from './capacity.ts';

const coresOfTheBench = 2;

test('the model of capacity is within a fifth of every closed loop in the lab notebook', () => {
  const notebook = readFileSync(path.join(checkoutDir, 'docs/lab/performance.md'), 'utf8');
  const shapes = measuredShapes(notebook);
  expect(shapes.length).toBeGreaterThanOrEqual(8);
  const wrong = shapes.filter(({ perSecond, cpuSecondsPerThousand }) => {
    const model = capacityOf(coresOfTheBench * productsPart, cpuSecondsPerThousand);
    return Math.abs(model / perSecond - 1) >= 0.2;
  });
  expect(wrong).toEqual([]);
});

test.each([
  ['created, jobs and replies gathered too', costs.created],
  ['whole life, after', costs.life],
])('the model of a second process is within a fifth of the notebook: %s', (row, cost) => {
  const notebook = readFileSync(path.join(checkoutDir, 'docs/lab/performance.md'), 'utf8');
  const [, text = ''] = new RegExp(`^\\| ${row} \\| ([\\d.]+) ×`, 'mu').exec(notebook) ?? [];
  const model = costOf(cost, 64, 2) / costOf(cost, 64, 1);
  expect(Math.abs(model / Number(text) - 1)).toBeLessThan(deviationMax);
});

test('the verdict on the model breaks if one loop is more than a fifth off, or if there is none', () => {
  const near = { name: 'created', model: 1.19, measured: 1 };
  expect(capacityVerdict([near])).toContain('held');
  expect(capacityVerdict([near, { ...near, model: 0.79 }])).toContain('BROKEN');
  expect(capacityVerdict([])).toContain('BROKEN');
});
