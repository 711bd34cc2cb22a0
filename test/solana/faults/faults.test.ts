import { expect, test } from 'vitest';
import { openSolanaWorld } from '../world.ts';
import { runFaults } from './run-faults.ts';

const payments = Number(process.env['SOLANA_FAULTS_RUNS'] ?? 60);
const seed = Number(process.env['SOLANA_FAULTS_SEED'] ?? 1);

test('under faults every finalized payment is credited exactly once, and nothing else is', async () => {
  const world = await openSolanaWorld();
  try {
    const verdict = await runFaults(world, { payments, seed });
    process.stdout.write(`${JSON.stringify({ ...verdict, seed })}\n`);
    expect(verdict.violations).toEqual([]);
    expect(verdict.granted).toBeGreaterThan(payments / 4);
    expect(Object.keys(verdict.faults).length).toBeGreaterThan(4);
  } finally {
    await world.closeAll();
  }
});
