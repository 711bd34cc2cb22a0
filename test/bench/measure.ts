import type { Driver } from './load/children.ts';
import { monotonicMs } from './load/clock.ts';
import type { Arrival, LoadResult, LoadTenant, Pace } from './load/messages.ts';
import { startMeter } from './meter.ts';
import { type Backlog, percentilesOf, refusedShareMax, type Sample, type Shape } from './sample.ts';
import type { System } from './systems/system.ts';
import { untilNoneLeft } from './wait.ts';

/**
 * The most submissions per node in a closed loop that only creates. Each of them keeps its slot
 * until the loop ends. `standard` may use 180 slots of a node, so this limit is lower.
 */
const acceptedPerNodeMax = 175;

/**
 * Drives one shape against one system, for at most `seconds`. Then waits until every submission has
 * ended and, for a whole life, every webhook has arrived.
 */
export async function measure(
  driver: Driver,
  system: System,
  shape: Shape,
  seconds: number,
): Promise<Sample> {
  const { world } = system;
  const isLife = shape.until === 'notified';
  const tenants = (isLife ? system.notified : system.quiet).slice(0, shape.tenants);
  const before = await world.ask({ kind: 'mode', mode: isLife ? 'complete' : 'accept' });
  await world.ask({ kind: 'arrivals' });
  const stopMeter = await startMeter(system);
  const sinceMs = Date.now();
  const startedAtMs = monotonicMs();
  const { posts, refused, open } = await drive(
    driver,
    system,
    tenants,
    paceOf(system, shape, seconds),
  );
  const created = posts.length;
  const expected = before.webhooks + created;
  if (isLife)
    await untilNoneLeft(`${system.name}'s webhooks of "${shape.name}"`, async () => {
      const now = await world.ask({ kind: 'count' });
      return expected - now.webhooks;
    });
  const usage = await stopMeter(created);
  await comeToRest(system, shape.name);
  const ends = isLife ? await endsOf(system, sinceMs) : undefined;
  const answeredAtMs = posts.map((post) => post.answeredAtMs);
  const endedAtMs = ends === undefined ? answeredAtMs : [...ends.atMs.values()];
  const backlog: Backlog | undefined = open && {
    duePerSecond: 'perSecond' in shape.pace ? shape.pace.perSecond : 0,
    unanswered: open.unanswered,
    unnotified: endedAtMs.filter((atMs) => atMs > open.endAtMs).length,
    isAbandoned: open.isAbandoned,
    lateP99Ms: open.lateP99Ms,
  };
  return {
    perSecond: (created / (latest(endedAtMs) - startedAtMs)) * 1_000,
    created,
    refused,
    answered: percentilesOf(posts.map((post) => post.answeredAtMs - post.dueAtMs)),
    ...(ends === undefined
      ? {}
      : {
          notified: percentilesOf(
            posts.map((post) => (ends.atMs.get(post.submissionId) ?? Number.NaN) - post.dueAtMs),
          ),
          firstWebhook: percentilesOf(ends.afterSettlementMs),
        }),
    ...usage,
    ...(backlog === undefined ? {} : { backlog }),
  };
}

/**
 * The seed of an open loop is its rate, so two systems with the same rate get the same schedule.
 */
function paceOf({ links }: System, { pace, until }: Shape, seconds: number): Pace {
  if ('perSecond' in pace) return { kind: 'open', ...pace, seconds, seed: pace.perSecond };
  const acceptedMax = links.length * acceptedPerNodeMax;
  const requestsMax = until === 'notified' ? Number.MAX_SAFE_INTEGER : acceptedMax;
  return { kind: 'closed', inFlight: pace.inFlight, seconds, requestsMax };
}

/**
 * Throws if no submission was created, or if a closed loop had more refused requests than
 * `refusedShareMax` times its created submissions.
 */
export async function drive(
  driver: Driver,
  { name, gatewayUrls }: System,
  tenants: readonly LoadTenant[],
  pace: Pace,
): Promise<Omit<LoadResult, 'refused'> & { readonly refused: number }> {
  const result = await driver.ask({ gatewayUrls, tenants, pace });
  const refused = Object.values(result.refused).reduce((sum, count) => sum + count, 0);
  const created = result.posts.length;
  const isWrong = pace.kind === 'closed' && refused > created * refusedShareMax;
  if (created === 0 || isWrong)
    throw new Error(
      `${name} refused too many requests or created no submission: ${created} created. ` +
        `Refused requests by HTTP status (0: the connection failed): ${JSON.stringify(result.refused)}`,
    );
  return { ...result, refused };
}

async function comeToRest(system: System, after: string): Promise<void> {
  await system.world.ask({ kind: 'release' });
  await untilNoneLeft(`${system.name}'s submissions after "${after}"`, () => system.inFlight());
}

interface Ends {
  /**
   * Maps each submission id to the time at which its webhook was acknowledged. The times are of the
   * monotonic clock (clock.ts).
   */
  readonly atMs: ReadonlyMap<string, number>;
  /**
   * For each acknowledged delivery: the milliseconds from the SQL statement that settled its
   * submission to the acknowledgement.
   */
  readonly afterSettlementMs: readonly number[];
}

/**
 * Waits until all deliveries created since `sinceMs` have arrived. Returns the times at which they
 * were acknowledged.
 */
async function endsOf(system: System, sinceMs: number): Promise<Ends> {
  const made = await system.deliveriesSince(sinceMs);
  const arrivals: Arrival[] = [];
  const left = new Set(made.keys());
  await untilNoneLeft(`${system.name}'s webhooks`, async () => {
    const { arrivals: more = [] } = await system.world.ask({ kind: 'arrivals' });
    for (const { deliveryId } of more) left.delete(deliveryId);
    arrivals.push(...more);
    return left.size;
  });
  return {
    atMs: new Map(arrivals.map((one) => [one.submissionId, one.monotonicMs])),
    afterSettlementMs: arrivals.map((one) => one.atMs - (made.get(one.deliveryId) ?? Number.NaN)),
  };
}

function latest(valuesMs: readonly number[]): number {
  return valuesMs.reduce((most, value) => Math.max(most, value), 0);
}
