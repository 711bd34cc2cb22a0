import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { capacityVerdict, type Compared, costOf, costs } from './capacity.ts';
import { type Driver, startDriver } from './load/children.ts';
import { isWanted, options } from './options.ts';
import { measureBacklogs } from './parts/backlog.ts';
import { measureFleet } from './parts/fleet.ts';
import { measureHalfLoad } from './parts/half-load.ts';
import { capacitiesOf, measureOpenLoop } from './parts/open-loop.ts';
import { withRows } from './parts/rows.ts';
import { compared, measureShapes, type ShapeResult } from './parts/shapes.ts';
import { profileEnvironment, reportProfiles } from './profile-report.ts';
import {
  cancelFigures,
  deadNodeFigures,
  halfLoadFigures,
  openLoopFigures,
  shapeFigures,
  twoOfEachFigures,
} from './report/goal-figures.ts';
import type { GoalFigures } from './report/goals.ts';
import type { Report } from './report/report.ts';
import { firstWebhookTable, memoryTable, refusedLine, shapesTable } from './report/shapes-table.ts';
import { backlogTable, cancelTable, deadNodesTable, rowsTable } from './report/tables.ts';
import { created64, life64, shapes } from './shapes.ts';
import { startBaselineSystem } from './systems/baseline.ts';
import { startProduct } from './systems/product.ts';
import { RunningSystems } from './systems/running.ts';
import type { System } from './systems/system.ts';

const { againstDir } = options;
const other = againstDir === undefined ? 'baseline' : 'the other checkout';
const names = ['product', other];
/** The number of requests in flight in the shapes `created64` and `life64`. */
const inFlightOfLoops = 64;

/**
 * Runs the parts that docs/PERFORMANCE.md lists. With `--profile`, runs only the shapes and reports
 * the profiles.
 */
export async function runUsual(report: Report): Promise<void> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-bench-'));
  const driver = await startDriver();
  const systems = new RunningSystems();
  const { profileDir } = options;
  try {
    const usual = new Usual(report, driver, systems, dir);
    const measured = await usual.shapes();
    if (profileDir === undefined) {
      await usual.rates(measured);
      await usual.backlogs();
      await usual.someOfEach('two of each service', 2);
      if (options.hasFourOfEach) await usual.someOfEach('four of each service', 4);
    }
  } finally {
    await systems.closeAll();
  }
  try {
    if (profileDir === undefined) await fleet(report, driver, path.join(dir, 'fleet'));
  } finally {
    await driver.close();
    rmSync(dir, { recursive: true, force: true });
  }
  if (profileDir !== undefined) report.say(reportProfiles(profileDir));
}

class Usual {
  readonly #report: Report;
  readonly #driver: Driver;
  readonly #systems: RunningSystems;
  readonly #dir: string;

  constructor(report: Report, driver: Driver, systems: RunningSystems, dir: string) {
    this.#report = report;
    this.#driver = driver;
    this.#systems = systems;
    this.#dir = dir;
  }

  async shapes(): Promise<readonly ShapeResult[]> {
    const wanted = shapes.filter(({ name }) => isWanted(name));
    if (wanted.length === 0) return [];
    const both = await this.#both();
    const measured = await this.#report.part(
      'shapes',
      () => measureShapes(this.#driver, both, compared(wanted, both), options),
      (results) =>
        [
          shapesTable(results, names),
          refusedLine(results, names),
          firstWebhookTable(results, names),
          memoryTable(results, names),
        ].join('\n\n'),
      ifBaseline(shapeFigures),
    );
    return measured ?? [];
  }

  async rates(measured: readonly ShapeResult[]): Promise<void> {
    const [open, half] = ['open loop', 'settlement to first webhook at half load'] as const;
    if (!isWanted(open) && !isWanted(half)) return;
    const both = await this.#both();
    const capacities = await capacitiesOf(this.#driver, both, measured);
    if (isWanted(open))
      await this.#report.part(
        open,
        () =>
          withRows(options.openLoop.countsRows ? both : [], () =>
            measureOpenLoop(this.#driver, both, capacities, options.openLoop),
          ),
        ({ results, rows }) =>
          [
            shapesTable(results, names),
            refusedLine(results, names),
            ...(rows.length === 0 ? [] : [rowsTable(rows, names)]),
          ].join('\n\n'),
        ifBaseline(({ results, rows }) => openLoopFigures(results, rows)),
      );
    if (isWanted(half))
      await this.#report.part(
        half,
        () => measureHalfLoad(this.#driver, both, capacities),
        (results) => `${shapesTable(results, names)}\n\n${firstWebhookTable(results, names)}`,
        halfLoadFigures,
      );
  }

  async backlogs(): Promise<void> {
    for (const [name, away] of [
      ['webhook backlog', 'webhooks'],
      ['settlement backlog', 'settlement'],
    ] as const) {
      if (!isWanted(name)) continue;
      const both = await this.#both();
      await this.#report.part(
        name,
        () => measureBacklogs(this.#driver, both, away),
        (samples) => backlogTable(name, samples, names),
      );
    }
  }

  async someOfEach(name: string, each: number): Promise<void> {
    if (!isWanted(name)) return;
    const product = await this.#product();
    const some = await this.#systems.get(name, () => this.#startProduct(name, each));
    const compare = [some, product];
    const labels = [name, 'one of each service'];
    const rounds = { ...options.someOfEach, seconds: options.seconds };
    await this.#report.part(
      name,
      () => measureShapes(this.#driver, compare, compared([created64, life64], compare), rounds),
      (results) =>
        [
          shapesTable(results, labels),
          memoryTable(results, labels),
          capacityVerdict(comparedWithModel(results, each)),
        ].join('\n\n'),
      (results) => (each === 2 ? twoOfEachFigures(results) : new Map()),
    );
    await this.#systems.close(name);
  }

  async #both(): Promise<readonly System[]> {
    const product = await this.#product();
    const { tenants, nodes } = options;
    const dir = path.join(this.#dir, 'other');
    const start = againstDir === undefined ? startBaselineSystem : await productOf(againstDir);
    return [product, await this.#systems.get(other, () => start({ tenants, nodes, dir }))];
  }

  async #product(): Promise<System> {
    const product = await this.#systems.get('product', () => this.#startProduct('product', 1));
    this.#report.servers(await product.versions());
    return product;
  }

  #startProduct(name: string, each: number): Promise<System> {
    const { profileDir, tenants, nodes } = options;
    const env = profileDir === undefined ? {} : profileEnvironment(profileDir);
    const dir = path.join(this.#dir, name.replaceAll(' ', '-'));
    return startProduct({ tenants, nodes, dir, env, each });
  }
}

/**
 * Without `--against`, returns `figures`. With `--against`, the returned function gives no figures:
 * another checkout replaces the baseline, which most goals need.
 */
function ifBaseline<T>(figures: (result: T) => GoalFigures): (result: T) => GoalFigures {
  return againstDir === undefined ? figures : () => new Map();
}

async function productOf(checkoutDir: string): Promise<typeof startProduct> {
  const file = path.resolve(checkoutDir, 'test/bench/systems/product.ts');
  const module: { readonly startProduct: typeof startProduct } = await import(file);
  return module.startProduct;
}

async function fleet(report: Report, driver: Driver, dir: string): Promise<void> {
  const [cancel, deadNode] = ['cancel', 'dead node'] as const;
  if (!isWanted(cancel) && !isWanted(deadNode)) return;
  await measureFleet(dir, async (rig) => {
    if (isWanted(deadNode))
      await report.part(deadNode, () => rig.deadNodes(driver), deadNodesTable, deadNodeFigures);
    if (isWanted(cancel))
      await report.part(cancel, () => rig.cancels(), cancelTable, cancelFigures);
  });
}

/**
 * Compares the model of capacity with this run. `model` and `measured` are CPU costs with `each`
 * processes per service, divided by the cost with one process per service.
 */
function comparedWithModel(results: readonly ShapeResult[], each: number): Compared[] {
  const modelled = [
    [created64.name, costs.created],
    [life64.name, costs.life],
  ] as const;
  return modelled.flatMap(([name, cost]) => {
    const [some, one] = results.find((result) => result.name === name)?.medians ?? [];
    if (some === undefined || one === undefined) return [];
    const model = costOf(cost, inFlightOfLoops, each) / costOf(cost, inFlightOfLoops, 1);
    return [{ name, model, measured: some.totalCpuMicros / one.totalCpuMicros }];
  });
}
