import { tiers } from '@svc/domain';
import type * as fc from 'fast-check';
import { by, type Command } from './command.ts';
import { nodeCommands } from './node-commands.ts';
import { pick } from './pick.ts';
import { compareTaken } from './slots.ts';
import type { World } from './world.ts';

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
    pick(world.tenantIds, n >> 4),
  );
}

function dieSoon(world: World, n: number): void {
  const moment = n % 2 === 0 ? 'before' : 'after';
  pick(world.alive, n >> 3)?.mortal.dieAt(1 + (n % 3), moment);
}

function cutSoon(world: World, n: number): void {
  const node = pick(world.nodes, n >> 3);
  const moment = n % 2 === 0 ? 'before' : 'after';
  pick(world.alive, n >> 5)?.mortal.strikeAt(1 + (n % 3), moment, () => node?.link?.cut());
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

const of = by<World>;

export const commands: fc.Arbitrary<Command<World>>[] = [
  ...of(12, 'post', post),
  ...nodeCommands,
  ...of(3, 'count-slots', compareTaken),
  ...of(2, 'settle', (world) => world.settle()),
  ...of(2, 'sweep', (world) => world.sweep()),
  ...of(1, 'flush', (world) => world.flush()),
  ...of(1, 'kill', (world, n) => pick(world.alive, n)?.mortal.die()),
  ...of(2, 'kill-at', dieSoon),
  ...of(2, 'cut-at', cutSoon),
  ...of(1, 'drain-dispatcher', drainDispatcher),
  ...of(4, 'start-dispatcher', startDispatcher),
  ...of(9, 'advance', (world, n) => world.advance(pick(spansMs, n) ?? 0)),
];
