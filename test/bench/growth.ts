import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Pool } from 'pg';
import { startDriver } from './load/children.ts';
import { measure } from './measure.ts';
import { isWanted, options } from './options.ts';
import { compared, measureShapes } from './parts/shapes.ts';
import { growthFigures } from './report/goal-figures.ts';
import type { Report } from './report/report.ts';
import { memoryTable, shapesTable } from './report/shapes-table.ts';
import { seedSubmissions } from './seed/seed.ts';
import { created1, created64, life64 } from './shapes.ts';
import { startProduct } from './systems/product.ts';
import type { System } from './systems/system.ts';

const postponedEveryMs = 60_000;

/**
 * Postpones settlement's audit of the ledger, because the first audit would read all seeded entries
 * during the measurement.
 */
async function postponeAudit(pool: Pool): Promise<void> {
  await pool.query(`UPDATE ledger_audit SET due_at = svc_now() + interval '4 minutes'`);
}

export async function runGrowth(report: Report): Promise<void> {
  const { seedRows, seedRowsFew, tenants, nodes, seconds } = options;
  const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-bench-growth-'));
  const driver = await startDriver();
  const systems: System[] = [];
  const pools: Pool[] = [];
  const postponing = setInterval(
    () => void Promise.all(pools.map(postponeAudit)),
    postponedEveryMs,
  );
  const labels = [seedRows, seedRowsFew].map((rows) => `${rows.toLocaleString('en')} before`);
  try {
    // The system with more seeded rows starts last and becomes the first of `systems`, because
    // `growthFigures` expects this order.
    for (const rows of [seedRowsFew, seedRows]) {
      const system = await startProduct({
        dir: path.join(dir, `${rows}`),
        tenants,
        nodes,
        prepare: async (stack, tenantIds) => {
          const seeded = await seedSubmissions(stack.servers.ownerUrl, tenantIds, rows);
          report.say(
            `${rows.toLocaleString('en')} submissions seeded in ${seeded.seconds.toFixed(0)} s; ` +
              `the database has ${(seeded.databaseMib / 1_024).toFixed(2)} GiB`,
          );
          await postponeAudit(stack.pool);
          pools.push(stack.pool);
        },
      });
      systems.unshift(system);
      await system.world.ask({ kind: 'connect', nodes: system.links });
    }
    for (const system of systems) report.servers(await system.versions());
    // After the checkpoint of the seeding, the first change of a page writes the whole page to the
    // WAL. The warm-up makes many of these writes, so that the measurement has fewer.
    for (const system of systems)
      for (const shape of [created64, life64])
        await measure(driver, system, shape, options.growth.warmUpSeconds);
    const shapes = [created64, created1, life64].filter(({ name }) => isWanted(name));
    await report.part(
      'growth',
      () =>
        measureShapes(driver, systems, compared(shapes, systems), { ...options.growth, seconds }),
      (results) => `${shapesTable(results, labels)}\n\n${memoryTable(results, labels)}`,
      growthFigures,
    );
  } finally {
    clearInterval(postponing);
    for (const system of systems) await system.close();
    await driver.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
