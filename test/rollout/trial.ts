import { toWireId } from '@svc/domain';
import { quantile } from '../bench/quantile.ts';
import { describeFault, type FaultsReport } from '../faults/report.ts';
import { runFaults } from '../faults/run.ts';
import { longPace } from '../faults/sizes.ts';
import type { World } from '../faults/world/types.ts';
import type { History } from '../history/history.ts';
import { createBalancer, type Phase, planSteps, processesMax, type StepOptions } from './steps.ts';

export interface RolloutOptions extends StepOptions {
  readonly seed: number;
  readonly perSecond: number;
}

export interface RolloutReport {
  readonly steps: number;
  readonly report: FaultsReport;
  /**
   * The numbers of failed requests, from `failedAnswers` and `refusalsOf`. A key is a request and
   * its answer, such as `create: 429 rate_limited`.
   */
  readonly failed: Readonly<Record<string, number>>;
  /**
   * One text for each creation that got no definite answer, and for each that `refusalsOf` returns.
   * The text has the outcome and the step in which the creation was sent.
   */
  readonly failedCreations: readonly string[];
  /**
   * One text for each submission that failed with one of `lostCodes`, except those that were lost
   * on purpose (`faults.lost`).
   */
  readonly moved: readonly string[];
  readonly latencies: readonly Latency[];
  /** The creations with the longest time to their `201`, the slowest first. */
  readonly slowest: readonly Timed[];
}

/**
 * A step that began at `atMs`, by the clock of the history. The step `quiet` begins after the call
 * of `Balancer.open`.
 */
interface Begun {
  readonly phase: Phase;
  readonly name: string;
  readonly atMs: number;
}

interface Timed {
  readonly step: Begun;
  readonly takenMs: number;
}

/** The latencies of a phase, from the request to the `201`. */
interface Latency {
  readonly phase: Phase;
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** The p99 of a phase may be at most this many times the p99 of the quiet phase. */
export const p99RatioMax = 2;
/**
 * The number of nodes. Any two of them have enough slots for the whole load, so no creation is
 * refused while the others reconnect.
 */
const nodes = 4;
const slotsPerNode = 100;

const slowestShown = 12;

/** The failure codes that a submission may get if its node or a service disappears. */
const lostCodes = ['node_lost', 'not_started', 'node_error'];
const failure = /: (?:no answer|408|429|5(?!03 dispatch_unavailable))/;
const declinedOnPurpose = 'sandbox.decline';
const lostOnPurpose = 'faults.lost';

export async function runRollout(
  options: RolloutOptions,
  say: (line: string) => void,
): Promise<RolloutReport> {
  const steps = planSteps(createBalancer(), options);
  const count = options.scales ? processesMax : 2;
  const begun: Begun[] = [];
  let world: World | undefined;
  let history: History = [];
  let moved: readonly string[] = [];
  const report = await runFaults({
    faults: steps.length,
    schedule: steps.map((step) => ({
      ...step,
      async strike(struck) {
        world = struck;
        if (step.phase !== 'quiet') begun.push({ ...step, atMs: struck.recorder.nowMs() });
        await step.strike(struck);
        if (step.phase === 'quiet') begun.push({ ...step, atMs: struck.recorder.nowMs() });
      },
    })),
    seed: options.seed,
    minutes: 0,
    perSecond: options.perSecond,
    size: {
      counts: { gateway: count, dispatcher: count, settlement: count, webhooks: count },
      nodes,
      slotsPerNode,
    },
    pace: longPace,
    movesClock: true,
    onFault: (struck) => say(describeFault(struck)),
    say,
    async onHistory(recorded) {
      history = recorded;
      if (world !== undefined) moved = await movedOutcomes(world);
    },
  });
  const refused = refusalsOf(history, world);
  const failed = failedAnswers(report.answers);
  if (refused.length > 0) failed['create: 503 although slots were free'] = refused.length;
  const unanswered = history.filter((one) => one.kind === 'create' && one.endMs === null);
  const failedCreations = [...unanswered, ...refused].flatMap((one) =>
    one.kind === 'create' ? [`${one.outcome.kind} in "${stepAt(begun, one.beginMs)?.name}"`] : [],
  );
  const latencies = latenciesOf(history, begun);
  const slowest = timedOf(history, begun)
    .toSorted((a, b) => b.takenMs - a.takenMs)
    .slice(0, slowestShown);
  return { steps: steps.length, report, failed, failedCreations, moved, latencies, slowest };
}

/**
 * The counts of the requests that failed: those without an answer, and those with 408, 429 or 5xx.
 * Leaves out `503 dispatch_unavailable`, because `refusalsOf` judges it.
 */
export function failedAnswers(answers: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(answers).filter(([name]) => failure.test(name)));
}

/**
 * The creations that were refused for lack of a node, except those that the nodes decline on
 * purpose.
 */
function refusalsOf(history: History, world: World | undefined): History {
  const applications = [...(world?.seen.applications.values() ?? [])];
  const declined = applications.filter(({ behaviour }) => behaviour === declinedOnPurpose);
  const expected = new Set(declined.map(({ key }) => key));
  return history.filter(
    (one) =>
      one.kind === 'create' &&
      one.outcome.kind === 'refused' &&
      one.outcome.code === 'dispatch_unavailable' &&
      !expected.has(one.key),
  );
}

function stepAt(begun: readonly Begun[], atMs: number): Begun | undefined {
  return begun.findLast((one) => one.atMs <= atMs);
}

function timedOf(history: History, begun: readonly Begun[]): Timed[] {
  return history.flatMap((one) => {
    if (one.kind !== 'create' || one.endMs === null) return [];
    if (one.outcome.kind !== 'created' || one.outcome.isReplay) return [];
    const step = stepAt(begun, one.beginMs);
    return step === undefined ? [] : [{ step, takenMs: one.endMs - one.beginMs }];
  });
}

export function latenciesOf(history: History, begun: readonly Begun[]): Latency[] {
  const byPhase = new Map<Phase, number[]>();
  for (const { step, takenMs } of timedOf(history, begun))
    byPhase.set(step.phase, [...(byPhase.get(step.phase) ?? []), takenMs]);
  return [...byPhase].map(([phase, values]) => ({
    phase,
    count: values.length,
    p50Ms: quantile(values, 0.5),
    p99Ms: quantile(values, 0.99),
  }));
}

async function movedOutcomes({ pool, seen }: World): Promise<string[]> {
  const { rows } = await pool.query<{ id: string; failureCode: string }>(
    `SELECT id, failure_code AS "failureCode" FROM submissions WHERE failure_code = ANY($1)`,
    [lostCodes],
  );
  const behaviours = new Map(
    [...seen.applications.values()].map((one) => [one.created?.['submissionId'], one.behaviour]),
  );
  return rows.flatMap(({ id, failureCode }) => {
    const submissionId = toWireId('sub', id);
    const behaviour = behaviours.get(submissionId);
    return behaviour === lostOnPurpose ? [] : [`${submissionId}: ${failureCode} (${behaviour})`];
  });
}
