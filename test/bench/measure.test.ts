import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startDriver } from './load/children.ts';
import { measure } from './measure.ts';
import type { Shape } from './sample.ts';
import { startProduct } from './systems/product.ts';

const created: Shape = {
  name: 'created',
  tenants: 2,
  until: 'created',
  pace: { inFlight: 8 },
};
const life: Shape = { ...created, name: 'whole life', until: 'notified' };

test('a measurement of the product leaves its nodes ready for the next one', async () => {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-bench-test-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const driver = await startDriver();
  onTestFinished(() => driver.close());
  const product = await startProduct({ dir, tenants: 2, nodes: 1 });
  onTestFinished(() => product.close());
  await product.world.ask({ kind: 'connect', nodes: product.links });
  for (const shape of [created, life, created, life]) {
    const sample = await measure(driver, product, shape, 0.5);
    expect(sample).toMatchObject({ refused: 0, created: expect.toSatisfy((count) => count > 5) });
  }
});
