import { tiers } from '@svc/domain';
import type * as fc from 'fast-check';
import { by, type Command } from '../model/command.ts';
import { nodeCommands } from '../model/node-commands.ts';
import { pick } from '../model/pick.ts';
import type { ProcessWorld } from './world.ts';

const spansMs = [100, 1_000, 2_000, 5_000, 6_001, 30_000, 60_001, 61_000, 300_001, 1_800_001];
/**
 * The values of `atsType` in the payloads. They decide how a real agent ends a job. A `ModelNode`
 * ignores them, because the commands of the run decide how it ends a job.
 */
const behaviours = ['sandbox.succeed', 'sandbox.slow', 'sandbox.fail', 'model', 'model'];
const agentsCount = 2;

async function killDispatcher(world: ProcessWorld, n: number): Promise<void> {
  const { alive } = world;
  // One dispatcher stays alive, because a run without dispatchers does little except wait.
  if (alive.length > 1) await world.killDispatcher(pick(alive, n)?.index ?? 0);
}

/**
 * Restarts an agent. Also starts the dead dispatchers, because the restart waits until the agent
 * has a link to a dispatcher.
 */
async function killAgent(world: ProcessWorld, n: number): Promise<void> {
  await Promise.all([world.agents.restart(n % agentsCount), world.startDispatchers()]);
}

const of = by<ProcessWorld>;

export const processCommands: fc.Arbitrary<Command<ProcessWorld>>[] = [
  ...of(14, 'post', (world, n) =>
    world.post(pick(tiers, n) ?? 'standard', pick(behaviours, n >> 2) ?? ''),
  ),
  ...nodeCommands,
  ...of(2, 'kill-dispatcher', killDispatcher),
  ...of(3, 'start-dispatchers', (world) => world.startDispatchers()),
  ...of(2, 'kill-agent', killAgent),
  ...of(1, 'flush', (world) => world.stack.flushRedis()),
  ...of(2, 'advance', (world, n) => world.stack.advanceClock(pick(spansMs, n) ?? 0)),
];
