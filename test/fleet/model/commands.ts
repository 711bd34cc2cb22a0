import { tiers } from '@svc/domain';
import * as fc from 'fast-check';
import type { World } from './world.ts';
import {
  acceptLate,
  answerOffer,
  beginNothing,
  cancelOne,
  completeEarly,
  connectNode,
  cutLink,
  drainNode,
  endRun,
  endStoppedRun,
  lively,
  loseDisk,
  repeatOutcome,
  reportUsage,
  restartAgent,
  sayStopped,
  startRun,
} from './node-steps.ts';
import { pick } from './pick.ts';

/**
 * What may happen to the fleet, as fast-check commands. Each picks what it acts on from what is
 * there when it runs; where nothing is, it does nothing. Half of them do not wait for what they
 * set off, so that the next one races it.
 */
type Step = (world: World) => Promise<void> | void;

export class Command implements fc.AsyncCommand<object, World> {
  readonly #name: string;
  readonly #step: Step;
  readonly #isAwaited: boolean;

  constructor(name: string, step: Step, isAwaited: boolean) {
    this.#name = name;
    this.#step = step;
    this.#isAwaited = isAwaited;
  }

  check(): boolean {
    return true;
  }

  async run(_model: object, world: World): Promise<void> {
    world.ran.push(this.#name.split(' ')[0] ?? '');
    await this.#step(world);
    if (this.#isAwaited) await world.settled();
    const [violation] = world.auditor.violations;
    if (violation !== undefined) throw new Error(violation);
  }

  toString(): string {
    return this.#isAwaited ? this.#name : `${this.#name}!`;
  }
}

const any = fc.nat(1_000);
const isAwaited = fc.integer({ min: 0, max: 9 }).map((n) => n < 6);

/** A command with one number to pick by, and how often it comes. */
function by(
  weight: number,
  name: string,
  step: (world: World, n: number) => Promise<void> | void,
): fc.Arbitrary<Command>[] {
  const one = fc
    .tuple(any, isAwaited)
    .map(([n, awaited]) => new Command(`${name} ${n}`, (world) => step(world, n), awaited));
  return Array.from({ length: weight }, () => one);
}

/** From an instant to beyond every limit of the contract. */
const spansMs = [
  1, 50, 50, 100, 100, 300, 300, 300, 500, 1_000, 1_000, 2_000, 2_000, 3_000, 5_000, 5_000, 6_000,
  10_000, 15_000, 30_000, 30_000, 59_000, 60_000, 61_000, 120_000, 300_000, 600_000, 1_800_000,
];

async function post(world: World, n: number): Promise<void> {
  const dispatcher = pick(world.alive, n);
  const tier = pick(tiers, n);
  if (dispatcher === undefined || tier === undefined) return;
  const count = n % 5 === 0 ? 3 : 1;
  await world.post(
    Array.from({ length: count }, () => tier),
    dispatcher,
  );
}

function dieSoon(world: World, n: number): void {
  const moment = n % 2 === 0 ? 'before' : 'after';
  pick(world.alive, n >> 3)?.mortal.dieAt(1 + (n % 3), moment);
}

async function drainDispatcher(world: World, n: number): Promise<void> {
  await world.settled();
  const dispatcher = pick(world.alive, n);
  const deadlineMs = 5_000;
  await dispatcher?.drain(() => world.advance(deadlineMs));
}

async function startDispatcher(world: World): Promise<void> {
  const most = 3;
  if (world.alive.length < most) await world.startDispatcher();
}

/** All that may happen, each as often as its weight says. */
export const commands: fc.Arbitrary<Command>[] = [
  ...by(12, 'post', post),
  ...by(24, 'lively', lively),
  ...by(10, 'accept', (world, n) => answerOffer(world, n, 'accept')),
  ...by(2, 'decline', (world, n) => answerOffer(world, n, 'decline')),
  ...by(1, 'accept-late', acceptLate),
  ...by(8, 'start', startRun),
  ...by(1, 'start-foreign', beginNothing),
  ...by(3, 'usage', reportUsage),
  ...by(5, 'complete', (world, n) => endRun(world, n, 'completed')),
  ...by(2, 'fail', (world, n) => endRun(world, n, 'failed')),
  ...by(1, 'complete-early', completeEarly),
  ...by(1, 'complete-stopped', endStoppedRun),
  ...by(1, 'repeat', repeatOutcome),
  ...by(2, 'stopped', sayStopped),
  ...by(2, 'cut', (world, n) => cutLink(world, n, { isNoticed: true })),
  ...by(1, 'cut-unnoticed', (world, n) => cutLink(world, n, { isNoticed: false })),
  ...by(10, 'connect', connectNode),
  ...by(2, 'restart-agent', restartAgent),
  ...by(1, 'lose-disk', loseDisk),
  ...by(1, 'drain-node', drainNode),
  ...by(3, 'cancel', (world, n) => cancelOne(world, n, { isTold: n % 4 !== 0 })),
  ...by(2, 'settle', (world) => world.settle()),
  ...by(2, 'sweep', (world) => world.sweep()),
  ...by(1, 'flush', (world) => world.flush()),
  ...by(1, 'kill', (world, n) => pick(world.alive, n)?.mortal.die()),
  ...by(2, 'kill-at', dieSoon),
  ...by(1, 'drain-dispatcher', drainDispatcher),
  ...by(4, 'start-dispatcher', startDispatcher),
  ...by(9, 'advance', (world, n) => world.advance(pick(spansMs, n) ?? 0)),
];
