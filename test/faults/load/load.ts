import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../simulation/random.ts';
import { isDecisive } from './http.ts';
import { gatewayOf, type LoadWorld } from './load-world.ts';
import { observe } from './observe.ts';
import { type Application, submissionIdOf } from './seen.ts';
import type { LoadTenant } from './tenant.ts';

export interface Load {
  begun(): number;
  /**
   * Begins no more work. Resolves when all begun work has ended: applications, grants, reads of a
   * balance and `observe`. A second call resolves at once.
   */
  stop(): Promise<void>;
}

export interface LoadOptions {
  readonly perSecond: number;
  readonly random: Random;
  readonly without?: readonly string[];
}

/**
 * The limit of work in flight, as a multiple of `perSecond`. At the limit, applications are
 * skipped, because otherwise an outage would end with a burst of them.
 */
const inFlightSecondsMax = 10;
const triesMax = 12;
/**
 * The patience of a tenant that never retries a creation. If the creation gets no answer, the
 * service must end the submission without a second request from the tenant.
 */
const onlyOnce = { triesMax: 1, givesUp: true } as const;
const poorGrantCredits = 150;

/**
 * Starts a steady stream of applications. Each is begun on time or skipped. None waits for an
 * earlier one.
 */
export function startLoad(world: LoadWorld, options: LoadOptions): Load {
  const { perSecond, random } = options;
  const inFlight = new Set<Promise<void>>();
  const inFlightMax = perSecond * inFlightSecondsMax;
  let due = 0;
  let begun = 0;
  let isStopped = false;
  const startedMs = performance.now();
  const begin = (work: Promise<void>): void => {
    inFlight.add(work);
    void work.finally(() => inFlight.delete(work));
  };
  const tick = (): void => {
    const dueBefore = due;
    due = Math.floor(((performance.now() - startedMs) / 1000) * perSecond);
    for (let left = due - dueBefore; left > 0 && inFlight.size < inFlightMax; left -= 1) {
      begun += 1;
      begin(live(world, newApplication(world, begun, options), random));
      if (random.chance(0.03)) begin(grantToPoor(world, begun, random));
      if (random.chance(0.05)) begin(readBalance(world, random));
      if (random.chance(0.25)) begin(observe(world, begun, random));
    }
  };
  const timer = setInterval(tick, 10);
  return {
    begun: () => begun,
    async stop() {
      if (isStopped) return;
      isStopped = true;
      clearInterval(timer);
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
  };
}

const mix: readonly (readonly [behaviour: string, weight: number])[] = [
  ['faults.quick', 42],
  ['faults.work', 26],
  ['faults.slow', 10],
  ['faults.costly', 6],
  ['faults.fail', 10],
  ['sandbox.decline', 3],
  ['faults.lost', 1],
];
const tiers = [undefined, undefined, 'standard', 'priority', 'instant'] as const;

function pickBehaviour({ random, without = [] }: LoadOptions): string {
  const left = mix.filter(([behaviour]) => !without.includes(behaviour));
  let die = random.nat(left.reduce((sum, [, weight]) => sum + weight, 0));
  for (const [behaviour, weight] of left) {
    if (die < weight) return behaviour;
    die -= weight;
  }
  return 'faults.quick';
}

function newApplication(
  { seen, tenants }: LoadWorld,
  number: number,
  options: LoadOptions,
): Application {
  const { random } = options;
  const tenant = random.pick(tenants);
  if (tenant === undefined) throw new Error('a load needs tenants');
  const behaviour = pickBehaviour(options);
  return seen.add(application(tenant, `load-${number}`, behaviour, random.pick(tiers)));
}

/**
 * Builds an application and the body of its request. The node logs `jobContext.key` when it runs
 * the job, so the audit recognises the application.
 */
export function application(
  tenant: LoadTenant,
  key: string,
  behaviour: string,
  tier?: 'standard' | 'priority' | 'instant',
): Pick<Application, 'tenant' | 'key' | 'body' | 'behaviour'> {
  const body = JSON.stringify({
    idempotencyKey: key,
    jobType: 'ats.application',
    ...(tier === undefined ? {} : { tier }),
    payload: {
      applicationUrl: 'https://jobs.example.com/apply/8841',
      atsType: behaviour,
      applicantProfile: { name: 'Ana Pérez' },
      jobContext: { title: 'Welder', company: 'Example Works', key },
    },
  });
  return { tenant, key, body, behaviour };
}

async function live(world: LoadWorld, wanted: Application, random: Random): Promise<void> {
  // Draw the whole plan before the first request, so that no answer to this application changes the
  // plan.
  const plan = {
    isImpatient: random.chance(0.4),
    isDoubled: random.chance(0.1),
    isCancelled: random.chance(0.12),
    isReplayed: random.chance(0.15),
    isRead: random.chance(0.3),
    givesUp: random.chance(0.5),
    afterMs: random.nat(1_200),
  };
  const patience = plan.isImpatient ? onlyOnce : { triesMax, givesUp: plan.givesUp };
  const firsts = [create(world, wanted, patience, random.nat(8))];
  if (plan.isDoubled && !plan.isImpatient)
    firsts.push(create(world, wanted, patience, random.nat(8)));
  await Promise.all(firsts);
  if (submissionIdOf(wanted) === null) return;
  if (plan.isCancelled) {
    await sleep(plan.afterMs);
    await cancel(world, wanted, random.nat(8));
  }
  const again = { triesMax, givesUp: true };
  if (plan.isReplayed) await create(world, wanted, again, random.nat(8));
  if (!plan.isRead) return;
  // Read twice, because the second answer may contradict the first one.
  for (const turn of [0, plan.afterMs]) {
    await sleep(plan.afterMs);
    await read(world, wanted, turn);
  }
}

interface Patience {
  /** The most requests that one call of `create` sends, whatever their answers. */
  readonly triesMax: number;
  /**
   * If true, `create` stops after the answer `dispatch_unavailable`. If false, it stops after this
   * answer only if it has sent at least three requests.
   */
  readonly givesUp: boolean;
}

async function create(
  world: LoadWorld,
  wanted: Application,
  patience: Patience,
  turn: number,
): Promise<void> {
  const { http, seen } = world;
  const { signer } = wanted.tenant;
  const question = {
    method: 'POST',
    target: '/v1/submissions',
    body: wanted.body,
    signer,
  } as const;
  for (let attempt = 0; attempt < patience.triesMax; attempt += 1) {
    const wasCreated = wanted.created !== undefined;
    const answer = await http.ask(gatewayOf(world, turn + attempt), question);
    seen.noteCreation(wanted, answer, { wasCreated });
    const isRefusal = answer?.code === 'dispatch_unavailable';
    if (isDecisive(answer) && (!isRefusal || patience.givesUp || attempt >= 2)) return;
    await sleep(Math.min(100 * 2 ** attempt, 1_500));
  }
}

async function cancel(world: LoadWorld, wanted: Application, turn: number): Promise<void> {
  const target = `/v1/submissions/${submissionIdOf(wanted)}/cancel`;
  const { signer } = wanted.tenant;
  for (let attempt = 0; attempt < triesMax; attempt += 1) {
    const answer = await world.http.ask(gatewayOf(world, turn + attempt), {
      method: 'POST',
      target,
      signer,
    });
    world.seen.noteCancel(wanted, answer);
    if (isDecisive(answer)) return;
    await sleep(200);
  }
}

async function read(world: LoadWorld, wanted: Application, turn: number): Promise<void> {
  const target = `/v1/submissions/${submissionIdOf(wanted)}`;
  const { signer } = wanted.tenant;
  const answer = await world.http.ask(gatewayOf(world, turn), { method: 'GET', target, signer });
  world.seen.noteRead(wanted, answer);
}

/** Reads a tenant's balance, which must add up at any time during the run. */
async function readBalance(world: LoadWorld, random: Random): Promise<void> {
  const { http, seen } = world;
  const tenant = random.pick(world.tenants);
  if (tenant === undefined) return;
  const question = {
    method: 'GET',
    target: '/v1/credits/balance',
    signer: tenant.signer,
  } as const;
  const answer = await http.ask(gatewayOf(world, random.nat(8)), question);
  seen.count('balance', answer);
  if (answer?.status !== 200) return;
  const [balance, held, available] = ['balance', 'held', 'available'].map((name) =>
    Math.round(Number(answer.body[name]) * 1e6),
  );
  const isRight =
    balance !== undefined &&
    held !== undefined &&
    held >= 0 &&
    balance >= held &&
    balance - held === available;
  if (!isRight)
    seen.complain(
      tenant.name,
      `the figures of its balance contradict each other: ${JSON.stringify(answer.body)}`,
    );
}

async function grantToPoor(world: LoadWorld, number: number, random: Random): Promise<void> {
  const tenant = random.pick(world.tenants.filter(({ isPoor }) => isPoor));
  if (tenant === undefined) return;
  await grant(world, tenant, `poor-${number}`, poorGrantCredits);
}

/**
 * Grants credits to a tenant, at most once for each `reference`. Repeats a failed request, and
 * resolves even if all requests fail.
 */
export async function grant(
  world: Pick<LoadWorld, 'http' | 'seen' | 'operator' | 'gatewayUrls'>,
  tenant: LoadTenant,
  reference: string,
  credits: number,
): Promise<void> {
  const granted = { tenant, reference, credits, isAnswered: false };
  world.seen.grants.push(granted);
  const body = JSON.stringify({ tenantId: tenant.tenantId, credits, reference });
  const signer = world.operator;
  for (let attempt = 0; attempt < triesMax * 2; attempt += 1) {
    const answer = await world.http.ask(gatewayOf(world, attempt), {
      method: 'POST',
      target: '/v1/credits/purchase',
      body,
      signer,
    });
    world.seen.count('purchase', answer);
    if (answer?.status === 201 || answer?.status === 200) {
      granted.isAnswered = true;
      return;
    }
    if (isDecisive(answer))
      world.seen.complain(reference, `was answered ${answer.status} ${answer.code}`);
    await sleep(Math.min(100 * 2 ** attempt, 1_500));
  }
}
