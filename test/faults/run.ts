import { setTimeout as sleep } from 'node:timers/promises';
import { toWireId } from '@svc/domain';
import type { ServiceName } from '@svc/local';
import { checkHistory } from '../history/check.ts';
import type { History } from '../history/history.ts';
import { recordLedger } from '../history/ledger.ts';
import { createRecorder } from '../history/recorder.ts';
import { createRandom } from '../simulation/random.ts';
import { audit } from './audit/audit.ts';
import { Findings } from './audit/findings.ts';
import type { Fault, Pace } from './catalogue/fault.ts';
import { createSchedule, targetsOf } from './catalogue/schedule.ts';
import { followNodes } from './history/record.ts';
import type { InjectedBug } from './injected-bugs/injected-bug.ts';
import { startLoad } from './load/load.ts';
import { createProber, type Prober } from './probe.ts';
import type { FaultsReport, StruckFault } from './report.ts';
import { comeToRest, describeRest } from './rest.ts';
import type { Hosts } from './world/hosts.ts';
import { populate } from './world/tenants.ts';
import type { Servers, World, WorldSize } from './world/types.ts';
import { startWorld } from './world/world.ts';

export interface FaultsOptions {
  readonly faults: number;
  readonly seed: number;
  /**
   * The load lasts at least this long. The faults are spread over this time. If the faults need
   * more time, the load lasts longer.
   */
  readonly minutes: number;
  /**
   * The number of applications that are due per second. An application is skipped if the load is at
   * its limit of work in flight.
   */
  readonly perSecond: number;
  readonly size: WorldSize;
  readonly pace: Pace;
  readonly movesClock: boolean;
  /** The longest wait until the system is at rest. The default is `restBoundMsDefault`. */
  readonly restBoundMs?: number;
  readonly bug?: InjectedBug;
  /** If given, the run has these faults in this order, and `faults` is ignored. */
  readonly schedule?: readonly Fault[];
  readonly servers?: Servers;
  readonly hosts?: Hosts;
  /** The file that a service starts from; by default its source. */
  readonly entryOf?: (service: ServiceName) => string;
  /**
   * If true, the run causes no further fault as soon as the system has failed to recover in time,
   * or the load has seen an answer that breaks the contract.
   */
  readonly endsWhenBroken?: boolean;
  readonly onFault?: (struck: StruckFault) => void;
  /** Called after the last fault and the end of the load. The services and nodes still run. */
  readonly afterFaults?: () => Promise<void>;
  readonly say?: (line: string) => void;
  /**
   * Called with the report before the world is closed, for example to keep the logs. Not called if
   * the run itself fails.
   */
  readonly onEnd?: (world: World, report: FaultsReport) => void;
  readonly onHistory?: (history: History) => Promise<void>;
}

const recoveryBoundMs = 60_000;
const restBoundMsDefault = 240_000;
const quietBeforeMs = 1_000;

const wireNames = {
  tenant: (id: string) => toWireId('tnt', id),
  submission: (id: string) => toWireId('sub', id),
  line: (id: string) => toWireId('txn', id),
};

/**
 * Makes one run with load and faults, then audits it. Resolves with a report, even after
 * violations. Throws only if the run itself fails.
 */
export async function runFaults(options: FaultsOptions): Promise<FaultsReport> {
  const { seed, bug, say = () => {} } = options;
  const { restBoundMs = restBoundMsDefault } = options;
  const startedMs = performance.now();
  const recorder = createRecorder();
  const world = await startWorld({ ...options, recorder });
  const nodes = followNodes(recorder, world.nodes);
  try {
    const population = await populate(world, createRandom(seed + 1));
    const tenants = [...population.tenants, population.probeTenant];
    const prober = createProber(world, population.probeTenant);
    const schedule = options.schedule ?? randomSchedule(world, options);
    say(
      `${world.services.length} services, ${world.nodes.length} nodes and ${world.proxies.size} TCP proxies started in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`,
    );
    const load = startLoad(
      { ...world, ...population },
      { perSecond: options.perSecond, random: createRandom(seed + 2) },
    );
    const loadedMs = performance.now();
    await sleep(quietBeforeMs);
    const struck = await strikeAll(world, prober, schedule, options);
    await sleep(Math.max(0, options.minutes * 60_000 - (performance.now() - loadedMs)));
    await load.stop();
    await prober.settle();
    await options.afterFaults?.();
    const loadSeconds = (performance.now() - loadedMs) / 1000;
    const rest = await comeToRest(world, tenants, {
      boundMs: restBoundMs,
      movesClock: options.movesClock,
    });
    say(describeRest(rest));
    const findings = await audit(world, tenants);
    auditRecovery(findings, struck);
    await nodes.stop();
    if (rest.restless.length === 0) recorder.add({ kind: 'rest', atMs: recorder.nowMs() });
    await recordLedger(recorder, world.pool, wireNames);
    await options.onHistory?.(recorder.history());
    const history = checkHistory(recorder.history());
    for (const { guarantee, count, violations } of history.verdicts)
      findings.addAll(`history: ${guarantee}`, count, violations);
    const seconds = restBoundMs / 1000;
    findings.expect(
      `the system comes to rest within ${seconds} s`,
      rest.restless.length === 0,
      'at the end',
      () => describeRest(rest),
    );
    const report: FaultsReport = {
      seed,
      bug,
      struck,
      loadSeconds,
      restMs: rest.restless.length === 0 ? rest.ms : undefined,
      checks: findings.results(),
      answers: Object.fromEntries(world.seen.answers),
      applications: world.seen.applications.size,
      submissions: [...world.seen.applications.values()].filter((one) => one.created !== undefined)
        .length,
      violations: findings.violations(),
      history,
    };
    options.onEnd?.(world, report);
    await population.close();
    return report;
  } finally {
    await nodes.stop();
    await world.close();
  }
}

function randomSchedule(world: World, { seed, pace, faults }: FaultsOptions): Fault[] {
  return [...createSchedule(createRandom(seed), targetsOf(world), pace, faults)];
}

async function strikeAll(
  world: World,
  prober: Prober,
  schedule: readonly Fault[],
  { minutes, endsWhenBroken = false, onFault = () => {} }: FaultsOptions,
): Promise<StruckFault[]> {
  const startedMs = performance.now();
  const everyMs = (minutes * 60_000) / Math.max(1, schedule.length);
  const struck: StruckFault[] = [];
  for (const [index, fault] of schedule.entries()) {
    await sleep(Math.max(0, startedMs + index * everyMs - performance.now()));
    const atSeconds = (performance.now() - startedMs) / 1000;
    await strikeOne(world, fault);
    const recoveryMs = await prober.untilRecovered(recoveryBoundMs);
    const one = { number: index + 1, atSeconds, kind: fault.kind, name: fault.name, recoveryMs };
    struck.push(one);
    onFault(one);
    const isBroken = recoveryMs === undefined || world.seen.complaints.length > 0;
    if (endsWhenBroken && isBroken) break;
  }
  return struck;
}

async function strikeOne(world: World, fault: Fault): Promise<void> {
  try {
    await fault.strike(world);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    process.stderr.write(`the fault "${fault.name}" could not strike: ${why}\n`);
  }
  await sleep(fault.lastsMs);
  await fault.heal(world);
}

function auditRecovery(findings: Findings, struck: readonly StruckFault[]): void {
  const promise = `the system is back within ${recoveryBoundMs / 1000} s after a fault has ended`;
  for (const { number, name, recoveryMs } of struck) {
    findings.expect(promise, recoveryMs !== undefined, `fault ${number}`, () => name);
  }
}
