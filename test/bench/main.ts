import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startDriver, startWorld } from './load/children.ts';
import { memoryPeakMib } from './load/cpu.ts';
import { type Bench, measure, type Sample, type Shape } from './measure.ts';
import { describe, medianOf, ratiosOf } from './report.ts';
import { seedSubmissions } from './seed.ts';
import { startFloorSystem, startProduct, type System } from './systems.ts';

/**
 * `pnpm bench [--quick] [--rounds N] [--seconds N] [--seed-rows N] [--only TEXT] [--profile DIR]`: the
 * whole stack and the floor side by side, each on a Postgres and a Redis of its own with fsync on,
 * driven in turns by a process of its own. The last line is the ratios, which another machine can
 * repeat; the rest is written to bench/results.json.
 */
const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    only: { type: 'string', default: '' },
    profile: { type: 'string' },
    'seed-rows': { type: 'string', default: '0' },
  },
});

const tenants = 1_000;
const quickTenants = 200;
const nodes = 24;

const shapes: readonly Shape[] = [
  { name: 'created, 64 in flight', inFlight: 64, tenants, until: 'created' },
  { name: 'created, 64 in flight, one tenant', inFlight: 64, tenants: 1, until: 'created' },
  { name: 'created, 16 in flight', inFlight: 16, tenants, until: 'created' },
  { name: 'created, 1 in flight', inFlight: 1, tenants, until: 'created' },
  { name: 'whole life, 64 in flight', inFlight: 64, tenants, until: 'told' },
];

const rounds = Number(values.rounds ?? (values.quick ? 2 : 7));
const seconds = Number(values.seconds ?? (values.quick ? 2 : 10));
const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-bench-'));
const say = (line: string) => process.stdout.write(`${line}\n`);

const profileOptions =
  values.profile === undefined
    ? {}
    : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${path.resolve(values.profile)}` };
const driver = await startDriver();
const worlds = { product: await startWorld(), floor: await startWorld() };
const systems: System[] = [];
try {
  const count = values.quick ? quickTenants : tenants;
  for (const name of ['product', 'floor'] as const) {
    const { webhookUrl } = await worlds[name].ask({ kind: 'count' });
    const options = { dir: path.join(dir, name), webhookUrl, tenants: count, nodes };
    mkdirSync(options.dir);
    const system =
      name === 'product'
        ? await startProduct({ ...options, env: profileOptions })
        : await startFloorSystem(options);
    systems.push(system);
    await worlds[name].ask({ kind: 'connect', nodes: system.links });
    await seedSubmissions(system, Number(values['seed-rows']));
  }
  await run({ driver, worlds });
} finally {
  for (const system of systems) await system.close();
  await Promise.all([driver.close(), worlds.product.close(), worlds.floor.close()]);
  rmSync(dir, { recursive: true, force: true });
}

async function run(bench: Bench): Promise<void> {
  const samples = new Map<string, Record<System['name'], Sample[]>>();
  const wanted = shapes.filter(({ name }) => name.includes(values.only));
  for (let round = 0; round <= rounds; round += 1) {
    for (const shape of wanted) {
      for (const system of round % 2 === 0 ? systems : systems.toReversed()) {
        // The first round warms up.
        const isWarmUp = round === 0;
        const sample = await measure(bench, system, shape, isWarmUp ? 1 : seconds);
        const both = samples.get(shape.name) ?? { product: [], floor: [] };
        if (!isWarmUp) both[system.name].push(sample);
        samples.set(shape.name, both);
      }
    }
  }
  const results = [...samples].map(([name, { product, floor }]) => ({
    name,
    product: medianOf(product),
    floor: medianOf(floor),
    samples: { product, floor },
  }));
  for (const result of results) say(describe(result));
  const memory = Object.fromEntries(
    systems.map(({ name, pids }) => [
      name,
      Object.fromEntries(Object.entries(pids).map(([of, pid]) => [of, memoryPeakMib(pid)])),
    ]),
  );
  mkdirSync('bench', { recursive: true });
  const report = { ...aboutThisRun(), memoryPeakMib: memory, results };
  writeFileSync('bench/results.json', `${JSON.stringify(report, null, 2)}\n`);
  say(ratiosOf(results));
}

function aboutThisRun(): object {
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
  const [cpu] = os.cpus();
  return {
    at: new Date().toISOString(),
    commit,
    machine: {
      cpu: cpu?.model,
      cores: os.cpus().length,
      memoryMib: Math.round(os.totalmem() / 2 ** 20),
    },
    versions: { node: process.version, os: `${os.type()} ${os.release()}` },
    options: { rounds, seconds, seedRows: Number(values['seed-rows']) },
  };
}
