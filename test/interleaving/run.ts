import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { isTerminal } from '@svc/domain';
import { createRandom, type Random } from '../simulation/random.ts';
import { drawActions, focuses } from './world/actions.ts';
import type { Rig } from './world/rig.ts';
import { alive, World } from './world/world.ts';

export interface RunReport {
  readonly seed: number;
  readonly steps: number;
  readonly submissions: number;
  readonly executed: number;
  readonly lockWaits: number;
  readonly ended: ReadonlyMap<string, number>;
  readonly violations: readonly string[];
  readonly trace: readonly string[];
  readonly hash: string;
}

const spansMs = [
  1, 5, 20, 50, 100, 100, 300, 300, 500, 1_000, 1_000, 2_000, 5_000, 6_000, 15_000, 61_000, 600_000,
];
/** The longest step of time while a tenant waits for an answer. */
const spanWhileWaitingMs = 250;
/**
 * The probability that a drawn span may end before the next timer is due. Otherwise a shorter span
 * is extended to that timer (`moveTime`).
 */
const betweenTimersChance = 0.15;
const restStepsMax = 6_000;

interface RunOptions {
  readonly seed: number;
  readonly steps: number;
  readonly stateDir: string;
  /**
   * The action that is frequent in this run. With `faults`, faults are frequent instead. If
   * undefined, the run draws a focus with the probability `focusChance`.
   */
  readonly focus: string | undefined;
}

const focusChance = 0.3;
const focusedFault = 0.06;

/**
 * Makes `steps` steps, and then brings the run to rest in at most `restStepsMax` more steps. Stops
 * at the first violation.
 */
export async function runOne(rig: Rig, options: RunOptions): Promise<RunReport> {
  const { seed, steps, stateDir } = options;
  const random = createRandom(seed);
  const ids = createRandom(seed + 1_000_003);
  const dir = path.join(stateDir, `run-${seed}`);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  const own = random.chance(focusChance) ? random.pick(focuses) : undefined;
  const focus = options.focus ?? own;
  const shape = {
    tenants: 1 + random.nat(2),
    nodes: 1 + random.nat(3),
    // The action `stall greeting` stalls the dispatcher that gets a node's `hello`. The node then
    // needs a second dispatcher.
    dispatchers: (focus === 'stall greeting' ? 2 : 1) + random.nat(3),
    rates: {
      stall: random.pick([0, 0.02, 0.06]) ?? 0,
      fault: focus === 'faults' ? focusedFault : (random.pick([0, 0.005, 0.03]) ?? 0),
    },
  };
  const drawn = {
    act: drawActions(random, focus),
    actChance: random.pick([0.03, 0.06, 0.12]) ?? 0,
  };
  const timeChance = random.pick([0, 0.01, 0.03]) ?? 0;
  const world = await World.open(rig, shape, { seed, random, ids, stateDir: dir });
  const { scheduler, auditor } = world;
  let lockWaits = 0;
  try {
    await scheduler.quiet.reached();
    while (scheduler.step < steps && auditor.violations.length === 0) {
      scheduler.step += 1;
      await takeStep(world, { ...drawn, timeChance });
      await settle(world);
    }
    if (auditor.violations.length === 0) await comeToRest(world, steps + restStepsMax);
    lockWaits = scheduler.quiet.lockWaits;
  } finally {
    await world.close();
    rmSync(dir, { recursive: true, force: true });
  }
  const { lines, hash } = scheduler.trace;
  const ended = Map.groupBy(auditor.rows.values(), ({ state }) => state);
  return {
    seed,
    steps: scheduler.step,
    submissions: auditor.rows.size,
    executed: auditor.acted.size,
    lockWaits,
    ended: new Map([...ended].map(([state, rows]) => [state, rows.length])),
    violations: auditor.violations,
    trace: lines,
    hash,
  };
}

async function settle(world: World): Promise<void> {
  await world.scheduler.quiet.reached();
  await world.audit();
}

async function takeStep(
  world: World,
  drawn: {
    readonly act: (world: World) => void;
    readonly actChance: number;
    readonly timeChance: number;
  },
): Promise<void> {
  const { scheduler, random } = world;
  if (random.chance(drawn.actChance)) {
    drawn.act(world);
    return;
  }
  if (!random.chance(drawn.timeChance) && scheduler.releaseOne({ thaws: false })) return;
  await moveTime(world, random);
}

async function moveTime(world: World, random: Random): Promise<void> {
  const { scheduler } = world;
  const { nowMs, nextDueMs, allowanceMs } = scheduler;
  const drawn = random.pick(spansMs) ?? 1;
  const untilDue = nextDueMs === undefined ? drawn : Math.max(1, nextDueMs - nowMs);
  // Little can happen before the next timer is due, so `wanted` usually reaches that timer.
  const wanted = random.chance(betweenTimersChance) ? drawn : Math.max(drawn, untilDue);
  const longest = world.requests.waiting ? Math.min(allowanceMs, spanWhileWaitingMs) : allowanceMs;
  const span = wanted <= longest && random.chance(0.6) ? wanted : Math.min(untilDue, longest);
  if (span < 1 && scheduler.releaseOne({ thaws: true })) return;
  await passTime(world, Math.max(1, span));
}

async function passTime({ scheduler }: World, ms: number): Promise<void> {
  scheduler.trace.add(scheduler.nowMs, `time ${ms} ms`);
  await scheduler.moveTime(ms);
}

/**
 * Time advances by these steps, in their order, while a run comes to rest. The last step is
 * repeated.
 */
const restSpansMs = [
  200, 500, 1_000, 1_000, 1_000, 2_000, 5_000, 15_000, 31_000, 61_000, 61_000, 600_000, 1_800_000,
];

async function comeToRest(world: World, stepsMax: number): Promise<void> {
  const { scheduler, auditor } = world;
  scheduler.heal();
  scheduler.trace.add(scheduler.nowMs, '--- rest');
  bringBack(world);
  for (let turn = 0; ;) {
    scheduler.step += 1;
    if (!scheduler.releaseOne({ thaws: false })) {
      if (scheduler.heldCount === 0 && isAtRest(world)) break;
      if (await passRest(world, turn)) turn += 1;
    }
    await settle(world);
    if (auditor.violations.length > 0) return;
    if (scheduler.step >= stepsMax) {
      auditor.complain('the run', `does not come to rest in ${restStepsMax} steps`);
      break;
    }
  }
  auditor.lookAtEnd();
}

/**
 * Advances the time by at most `restSpansMs[turn]`, or releases an event or timer instead. Returns
 * true if the whole span has passed.
 */
async function passRest(world: World, turn: number): Promise<boolean> {
  const { scheduler, requests } = world;
  const span = restSpansMs[Math.min(turn, restSpansMs.length - 1)] ?? 1;
  // An unanswered request or a held event limits the span.
  const longest = Math.min(
    scheduler.allowanceMs,
    requests.waiting ? spanWhileWaitingMs : Number.POSITIVE_INFINITY,
  );
  // An event has been held as long as possible, so no time may pass before something is released.
  if (longest < 1 && scheduler.releaseOne({ thaws: true })) return false;
  await passTime(world, Math.max(1, Math.min(span, longest)));
  return span <= longest;
}

function isAtRest({ auditor, requests }: World): boolean {
  if (requests.waiting) return false;
  return [...auditor.rows.values()].every(({ state }) => isTerminal(state));
}

/**
 * Kills and starts processes so that each node has exactly one agent, and each simulated service
 * has a process that is not draining.
 */
function bringBack(world: World): void {
  for (const place of world.nodes) {
    const own = alive(world.agents).filter((agent) => agent.place.nodeId === place.nodeId);
    for (const agent of own.slice(1)) agent.kill();
    if (own.length === 0) world.startAgent(place);
  }
  if (alive(world.gateways).length === 0) world.startGateway();
  if (alive(world.dispatchers).every(({ isDraining }) => isDraining)) world.startDispatcher();
  if (alive(world.settlements).length === 0) world.startSettlement();
}
