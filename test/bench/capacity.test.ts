import { readFileSync } from 'node:fs';
import path from 'node:path';
import { checkoutDir } from '@svc/local';
import { expect, test } from 'vitest';
import { capacityOf, measuredShapes, productsPart } from './capacity.ts';

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
