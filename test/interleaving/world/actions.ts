import { cpSync } from 'node:fs';
import path from 'node:path';
import { isTerminal, toWireId } from '@svc/domain';
import type { Random } from '../../simulation/random.ts';
import type { Row } from '../audit/rows.ts';
import type { SimulatedAgent } from './agent.ts';
import type { Ask } from './gateway.ts';
import { alive, type World } from './world.ts';

/** Acts on the system from outside. The trace names the action only if it returns true. */
type Action = (world: World) => boolean;

const keysMax = 12;
const dispatchersMax = 3;
const freezeStepsMax = 200;
const greetingStepsMin = 100;
const greetingStepsMore = 400;

function ask(world: World, request: Ask, key: string): boolean {
  const gateway = world.random.pick(alive(world.gateways));
  if (gateway === undefined) return false;
  const onAnswer = world.requests.asked({
    key,
    what: request.what,
    askedAtMs: world.scheduler.nowMs,
    isWaited: () => !gateway.process.isDead,
  });
  gateway.ask(request, onAnswer);
  return true;
}

function create(world: World, { tenant, key }: World['keys'][number]): boolean {
  const payload = {
    applicationUrl: `https://jobs.example.com/apply/${key}`,
    atsType: 'greenhouse',
    applicantProfile: {},
    jobContext: { title: 'Welder', company: 'Example Works' },
  };
  const tier = key.endsWith('3') ? 'instant' : 'standard';
  const body = { idempotencyKey: key, jobType: 'ats.application', tier, payload };
  return ask(world, { tenant, what: 'create', submissionId: '', body }, key);
}

const createNew: Action = (world) => {
  const { keys, random } = world;
  const tenant = random.pick(world.tenants);
  if (tenant === undefined || keys.length >= keysMax) return false;
  const one = { tenant, key: `key-${keys.length + 1}` };
  keys.push(one);
  return create(world, one);
};

const createAgain: Action = (world) => {
  const one = world.random.pick(world.keys);
  return one !== undefined && create(world, one);
};

function cancelOne(world: World, row: Row | undefined): boolean {
  const tenant = world.tenants.find(({ tenantId }) => tenantId === row?.tenant_id);
  if (row === undefined || tenant === undefined) return false;
  const submissionId = toWireId('sub', row.id);
  return ask(world, { tenant, what: 'cancel', submissionId, body: {} }, row.key);
}

const cancel: Action = (world) =>
  cancelOne(world, world.random.pick([...world.auditor.rows.values()]));

/**
 * Sets or clears a tenant's webhook URL. Half of the time, also cancels a submission in flight, so
 * that its event races with the change.
 */
const changeUrl: Action = (world) => {
  const { random, auditor } = world;
  const tenant = random.pick(world.tenants);
  if (tenant === undefined) return false;
  const webhookUrl = random.chance(0.5) ? 'http://127.0.0.1:1/hook' : null;
  const request: Ask = { tenant, what: 'settings', submissionId: '', body: { webhookUrl } };
  if (!ask(world, request, '')) return false;
  const live = [...auditor.rows.values()].filter(
    ({ tenant_id, state }) => tenant_id === tenant.tenantId && !isTerminal(state),
  );
  if (random.chance(0.5)) cancelOne(world, random.pick(live));
  return true;
};

/**
 * Cuts an open link. Often it is the newest, whose hello may not be answered yet. The service
 * notices some cuts only after `linkSilentMs`.
 */
const cut: Action = (world) => {
  const { live } = world.network;
  const connection = world.random.chance(0.5) ? live.at(-1) : world.random.pick(live);
  if (connection === undefined) return false;
  if (world.random.chance(0.6)) world.network.cut(connection);
  else world.network.cutUnnoticed(connection);
  return true;
};

/**
 * At the next `hello`, stalls the dispatcher that gets it, cuts the link and tries to create a
 * submission. The node can get the submission through another dispatcher.
 */
const stallGreeting: Action = (world) => {
  const { network, scheduler, random } = world;
  network.atNextHello = (connection) => {
    const steps = greetingStepsMin + random.nat(greetingStepsMore);
    connection.listener.process.frozenUntilStep = scheduler.step + steps;
    network.cutUnnoticed(connection);
    createNew(world);
  };
  return true;
};

const killAgent: Action = (world) => {
  world.random.pick(alive(world.agents))?.kill();
  return true;
};

const startAgent: Action = (world) => {
  const idle = world.nodes.filter(
    ({ nodeId }) => !alive(world.agents).some(({ place }) => place.nodeId === nodeId),
  );
  const place = world.random.pick(idle);
  if (place === undefined) return false;
  world.startAgent(place);
  return true;
};

/**
 * At the next assignment, starts a second agent of the assigned node on the same state directory.
 */
const startTwin: Action = (world) => {
  world.atNextAssignment = ({ place }) => world.startAgent({ ...place, tmpDir: world.newTmpDir() });
  return true;
};

/**
 * At the next assignment, starts a second agent of the assigned node on a copy of its state
 * directory, like a machine that was cloned or restored.
 */
const startClone: Action = (world) => {
  world.atNextAssignment = (agent) => startOnCopy(world, agent);
  return true;
};

/**
 * True if a copy of the state directory includes the file. The copy leaves out the lock (`.lock`)
 * and unfinished writes (`.draft`).
 */
function isOfState(file: string): boolean {
  return !/\.(lock|draft)$/.test(file);
}

function startOnCopy(world: World, { place }: SimulatedAgent): void {
  const stateDir = path.join(world.stateDir, world.newName('copy-'));
  try {
    cpSync(place.stateDir, stateDir, { recursive: true, filter: isOfState });
  } catch {
    return;
  }
  world.startAgent({ ...place, stateDir, tmpDir: world.newTmpDir() });
}

const killDispatcher: Action = (world) => {
  world.random.pick(alive(world.dispatchers))?.kill();
  return true;
};

const drainDispatcher: Action = (world) => {
  const serving = alive(world.dispatchers).filter(({ isDraining }) => !isDraining);
  world.random.pick(serving)?.drain();
  return true;
};

const startDispatcher: Action = (world) => {
  if (alive(world.dispatchers).length >= dispatchersMax) return false;
  world.startDispatcher();
  return true;
};

const restartGateway: Action = (world) => {
  world.random.pick(alive(world.gateways))?.kill();
  world.startGateway();
  return true;
};

const restartSettlement: Action = (world) => {
  if (world.random.chance(0.5)) world.random.pick(alive(world.settlements))?.kill();
  if (alive(world.settlements).length < 2) world.startSettlement();
  return true;
};

const flush: Action = (world) => {
  world.messaging.flush();
  const { rig, scheduler } = world;
  void scheduler.quiet.during({ isStatement: false }, () => rig.redis.flushall());
  return true;
};

const freeze: Action = (world) => {
  const { agents, dispatchers, gateways, settlements, scheduler } = world;
  const frozen = world.random.pick(alive([...agents, ...dispatchers, ...gateways, ...settlements]));
  if (frozen === undefined) return false;
  frozen.process.frozenUntilStep = scheduler.step + world.random.nat(freezeStepsMax);
  return true;
};

const weights: Readonly<Record<string, readonly [number, Action]>> = {
  create: [10, createNew],
  'create again': [2, createAgain],
  cancel: [2, cancel],
  'change URL': [4, changeUrl],
  cut: [3, cut],
  'stall greeting': [1.5, stallGreeting],
  'kill agent': [1, killAgent],
  'start agent': [4, startAgent],
  'start twin': [0.7, startTwin],
  'start clone': [0.7, startClone],
  'kill dispatcher': [0.7, killDispatcher],
  'drain dispatcher': [0.3, drainDispatcher],
  'start dispatcher': [1.5, startDispatcher],
  'restart gateway': [0.4, restartGateway],
  'restart settlement': [0.5, restartSettlement],
  flush: [0.3, flush],
  freeze: [2, freeze],
};

const focusFactor = 15;

/**
 * Draws the weight of each action for one run. The returned function draws an action by weight and
 * tries it. An action that is not possible does nothing.
 */
export function drawActions(random: Random, focus: string | undefined): (world: World) => void {
  const drawn = Object.entries(weights).map(([name, [weight, action]]) => {
    const factor = random.pick([0, 1, 1, 3]) ?? 1;
    const isNeeded = name === 'create' || name.startsWith('start ');
    const least = isNeeded ? 1 : 0;
    return {
      name,
      action,
      weight: weight * (name === focus ? focusFactor : Math.max(least, factor)),
    };
  });
  const total = drawn.reduce((sum, { weight }) => sum + weight, 0);
  return (world) => {
    let left = (world.random.nat(1_000_000) / 1_000_000) * total;
    const chosen = drawn.find(({ weight }) => (left -= weight) < 0);
    if (chosen === undefined || !chosen.action(world)) return;
    world.scheduler.trace.add(world.scheduler.nowMs, `--- ${chosen.name}`);
  };
}

export const focuses: readonly string[] = ['faults', ...Object.keys(weights)];
