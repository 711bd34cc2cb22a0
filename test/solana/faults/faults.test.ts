import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openSolanaWorld } from '../world.ts';
import { runFaults } from './run-faults.ts';

const payments = Number(process.env['SOLANA_FAULTS_RUNS'] ?? 60);
const seed = Number(process.env['SOLANA_FAULTS_SEED'] ?? 1);
/** The file from which `pnpm solana:faults` reads the verdict. */
const report = process.env['SOLANA_FAULTS_REPORT'];

function inWords(verdict: Awaited<ReturnType<typeof runFaults>>): string {
  // `none` counts the rounds of `runFaults` without a fault.
  const { none: _, ...struck } = verdict.faults;
  const faults = Object.values(struck).reduce((sum, count) => sum + count, 0);
  return `${verdict.payments} payments, ${verdict.granted} credited, ${faults} faults, ${verdict.violations.length} violations (seed ${seed})`;
}

test('under faults every finalized payment is credited exactly once, and nothing else is', async () => {
  const world = await openSolanaWorld();
  try {
    const verdict = await runFaults(world, { payments, seed });
    process.stdout.write(`${JSON.stringify({ ...verdict, seed })}\n`);
    if (report !== undefined) writeFileSync(report, inWords(verdict));
    expect(verdict.violations).toEqual([]);
    expect(verdict.granted).toBeGreaterThan(payments / 4);
    expect(Object.keys(verdict.faults).length).toBeGreaterThan(4);
  } finally {
    await world.closeAll();
  }
});
