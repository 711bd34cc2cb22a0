import { microsPerCredit } from '@svc/domain';
import { closeRedis, connectRedis, createFleetRegistry, waitForRedis } from '@svc/queue';
import { newId } from '@svc/runtime';
import { createSealer, openKeyring } from '@svc/signing';
import { createNode, openStore } from '@svc/store';
import { startStack, testAuthor, testMasterKey, waitUntil } from '@svc/testkit';
import * as fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { openAccounts } from '../../support/accounts.ts';
import { watchAgents } from './agents.ts';
import { processCommands } from './commands.ts';
import { freeSlots, passVerdict } from './verdict.ts';
import { ProcessWorld, type ScriptedCredentials } from './world.ts';

/** `pnpm fleet:processes --runs N --seed S` sets `FLEET_RUNS` and `FLEET_SEED`. */
const runs = Number(process.env['FLEET_RUNS'] ?? 2);
const seed = Number(process.env['FLEET_SEED'] ?? Date.now() % 1_000_000);
const commandsMax = 60;
const agentsCount = 2;
const credits = 100_000;
const prefix = 'svc';
const runMsMax = 120_000;

test(
  `between real processes that are killed, a submission is executed at most once and ends (FLEET_SEED=${seed})`,
  { timeout: 120_000 + runs * runMsMax },
  async () => {
    const rig = await openRig();
    const count = { runs: 0, commands: 0, submissions: 0, executed: 0, kills: 0 };
    const property = fc.asyncProperty(
      fc.commands(processCommands, { maxCommands: commandsMax, size: 'max' }),
      fc.integer({ min: 1, max: 4 }),
      async (sequence, nodes) => {
        const world = await rig.world(nodes);
        try {
          await fc.asyncModelRun(() => ({ model: {}, real: world }), sequence);
          expect(await passVerdict(world, rig.expected)).toEqual([]);
        } finally {
          await world.close();
          count.runs += 1;
          count.commands += world.ran.length;
          count.kills += world.ran.filter((name) => name.startsWith('kill-')).length;
          count.submissions += world.submissions.length;
          for (const { actedBy } of world.auditor.sightings.values())
            count.executed += actedBy.length;
        }
      },
    );
    await fc.assert(property, { numRuns: runs, seed, endOnFailure: true });
    process.stdout.write(`${JSON.stringify({ seed, ...count })}\n`);
    expect(count.runs).toBe(runs);
  },
);

async function openRig() {
  const stack = await startStack({ dispatchers: 2, nodes: agentsCount });
  const { databaseUrl, redisUrl } = stack;
  const accounts = openAccounts(stack);
  const sealer = createSealer(openKeyring(testMasterKey()));
  const store = openStore({ databaseUrl, sealer, newId });
  const redis = connectRedis(redisUrl, 'producer');
  await waitForRedis(redis, 5_000);
  onTestFinished(async () => {
    await closeRedis(redis);
    await store.close();
    await accounts.close();
    await stack.close();
  });
  const fleet = createFleetRegistry({ redis, prefix });
  const agents = watchAgents(stack, agentsCount);
  const agentSlots = await waitUntil(async () => (await fleet.capacity('ats.application')).slots);
  const newNode = async (): Promise<ScriptedCredentials> => {
    const node = { id: newId(), name: 'model', secret: `nsk_${newId()}` };
    await createNode(store, node, testAuthor);
    return node;
  };
  return {
    expected: { fleet, agentSlots, grantedMicros: BigInt(credits) * microsPerCredit },
    async world(nodesCount: number) {
      await freeSlots(fleet, agentSlots);
      const tenant = await accounts.tenant({ grantCredits: credits });
      const nodes = await Promise.all(Array.from({ length: nodesCount }, newNode));
      const world = new ProcessWorld(stack, { tenant, nodes, agents });
      for (const [index, node] of world.nodes.entries()) {
        world.alive[index % world.alive.length]?.connect(node);
      }
      await waitUntil(() => world.nodes.every(({ isWelcome }) => isWelcome));
      return world;
    },
  };
}
