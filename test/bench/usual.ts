import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type Driver, startDriver } from './load/children.ts';
import { measure } from './measure.ts';
import { isWanted, options } from './options.ts';
import { type BacklogSample, measureBacklog } from './parts/backlog.ts';
import { measureFleet } from './parts/fleet.ts';
import { inTurn, measureShapes, type ShapeResult } from './parts/shapes.ts';
import { profileEnvironment, reportProfiles } from './profile-report.ts';
import type { Report } from './report/report.ts';
import {
  backlogTable,
  cancelTable,
  deadNodesTable,
  memoryTable,
  ratiosLine,
  refusedLine,
  shapesTable,
  notifiedTable,
} from './report/tables.ts';
import { created64, life64, shapes } from './shapes.ts';
import { startBaselineSystem } from './systems/baseline.ts';
import { startProduct } from './systems/product.ts';
import type { System } from './systems/system.ts';

const names = ['product', 'baseline'];
const { tenants, nodes, rounds, seconds } = options;

const parts = {
  halfLoad: 'first webhook at half load',
  webhookBacklog: 'webhook backlog',
  settlementBacklog: 'settlement backlog',
  deadNode: 'dead node',
  cancel: 'cancel',
  twoOfEach: 'two of each',
} as const;

/**
 * The product and the baseline, then the parts about the product's nodes alone, then two of each
 * service.
 */
export async function runUsual(report: Report): Promise<void> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-bench-'));
  const driver = await startDriver();
  const { profileDir } = options;
  try {
    await withSystems(report, driver, dir);
    if (profileDir === undefined) await fleet(report, driver, path.join(dir, 'fleet'));
  } finally {
    await driver.close();
    rmSync(dir, { recursive: true, force: true });
  }
  if (profileDir !== undefined) report.say(reportProfiles(profileDir));
}

async function withSystems(report: Report, driver: Driver, dir: string): Promise<void> {
  const { halfLoad: half, webhookBacklog, settlementBacklog, twoOfEach: two } = parts;
  const wanted = [...shapes.map(({ name }) => name), half, webhookBacklog, settlementBacklog, two];
  if (!wanted.some(isWanted)) return;
  const systems: System[] = [];
  const start = async (starting: Promise<System>): Promise<System> => {
    const system = await starting;
    systems.push(system);
    await system.world.ask({ kind: 'connect', nodes: system.links });
    return system;
  };
  const { profileDir } = options;
  try {
    const env = profileDir === undefined ? {} : profileEnvironment(profileDir);
    const size = { tenants, nodes };
    const product = await start(startProduct({ ...size, dir: path.join(dir, 'product'), env }));
    const baseline = await start(startBaselineSystem({ ...size, dir: path.join(dir, 'baseline') }));
    report.servers(await product.versions());
    const both = [product, baseline];
    const measured = await compareWithBaseline(report, driver, both);
    if (profileDir !== undefined) return;
    await firstWebhooks(report, driver, both, measured);
    await backlogs(report, driver, both);
    if (!isWanted(two)) return;
    const twos = startProduct({ ...size, dir: path.join(dir, 'two'), each: 2 });
    await twoOfEach(report, driver, [await start(twos), product]);
  } finally {
    for (const system of systems) await system.close();
  }
}

async function compareWithBaseline(
  report: Report,
  driver: Driver,
  both: readonly System[],
): Promise<readonly ShapeResult[]> {
  const wanted = shapes.filter(({ name }) => isWanted(name));
  if (wanted.length === 0) return [];
  const measured = await report.part(
    'shapes',
    () => measureShapes(driver, both, wanted, { rounds, seconds }),
    (results) =>
      [
        shapesTable(results, names),
        refusedLine(results, names),
        notifiedTable(results, names),
        memoryTable(results, names),
      ].join('\n\n'),
  );
  report.lastLine(ratiosLine(measured ?? []));
  return measured ?? [];
}

async function firstWebhooks(
  report: Report,
  driver: Driver,
  both: readonly System[],
  measured: readonly ShapeResult[],
): Promise<void> {
  if (!isWanted(parts.halfLoad)) return;
  await report.part(
    parts.halfLoad,
    () => halfLoad(driver, both, measured),
    (results) => `${shapesTable(results, names)}\n\n${notifiedTable(results, names)}`,
  );
}

/** Each system at half of its measured rate of whole lives. */
async function halfLoad(driver: Driver, both: readonly System[], measured: readonly ShapeResult[]) {
  const whole = measured.find(({ name }) => name === life64.name)?.medians;
  const samples: ShapeResult[] = [];
  for (const [index, system] of both.entries()) {
    const known = whole?.[index] ?? (await measure(driver, system, life64, 2 * seconds));
    const name = `whole life at half load`;
    const shape = { ...life64, name, perSecond: known.perSecond / 2 };
    samples.push(...(await measureShapes(driver, [system], [shape], options.halfLoad)));
  }
  const [name = ''] = samples.map((result) => result.name);
  return [
    {
      name,
      medians: samples.flatMap(({ medians }) => medians),
      samples: samples.flatMap((result) => result.samples),
    },
  ];
}

async function backlogs(report: Report, driver: Driver, both: readonly System[]): Promise<void> {
  const { rounds: times, count } = options.backlog;
  for (const [name, away] of [
    [parts.webhookBacklog, 'webhooks'],
    [parts.settlementBacklog, 'settlement'],
  ] as const) {
    if (!isWanted(name)) continue;
    await report.part(
      name,
      async () => {
        const samples = both.map((): BacklogSample[] => []);
        for (let round = 0; round < times; round += 1) {
          for (const index of inTurn(both.length, round)) {
            const system = both[index];
            if (system === undefined) continue;
            samples[index]?.push(await measureBacklog(driver, system, away, count));
          }
        }
        return samples;
      },
      (samples) => backlogTable(name, samples, names),
    );
  }
}

async function fleet(report: Report, driver: Driver, dir: string): Promise<void> {
  const { cancel, deadNode } = parts;
  if (!isWanted(cancel) && !isWanted(deadNode)) return;
  await measureFleet(dir, async (rig) => {
    if (isWanted(deadNode))
      await report.part(deadNode, () => rig.deadNodes(driver), deadNodesTable);
    if (isWanted(cancel)) await report.part(cancel, () => rig.cancels(), cancelTable);
  });
}

async function twoOfEach(report: Report, driver: Driver, systems: readonly System[]) {
  const labels = ['two of each', 'one of each'];
  await report.part(
    parts.twoOfEach,
    () => measureShapes(driver, systems, [created64, life64], { ...options.twoOfEach, seconds }),
    (results) => `${shapesTable(results, labels)}\n\n${memoryTable(results, labels)}`,
  );
}
