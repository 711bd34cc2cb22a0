import { createTestDatabase } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { simulate } from './simulate.ts';

const seed = Number(process.env['SIMULATION_SEED'] ?? Date.now() % 1_000_000);

test(
  `money adds up under crashes and cut connections (SIMULATION_SEED=${seed})`,
  {
    timeout: 180_000,
  },
  async () => {
    const database = await createTestDatabase();
    onTestFinished(() => database.close());
    const report = await simulate({ ...database, operations: 3_000, seed });
    expect(report.faults).toEqual([]);
    expect(report).toMatchObject({ operations: 3_000, checks: 3, kills: 1, cuts: 4 });
    expect(report.submissions).toBeGreaterThan(250);
    expect(report.history.operations).toBeGreaterThan(1_500);
  },
);
