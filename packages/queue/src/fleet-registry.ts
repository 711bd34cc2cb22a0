import { hasHeadroom, type Tier } from '@svc/domain';
import type { Redis } from 'ioredis';

import { createCallBatcher } from './call-batcher.ts';
import { joinScript, leaveScript, refreshScript, stepsScript } from './fleet-scripts.ts';
import { redisScript } from './redis-script.ts';
import { keyPrefix } from './redis.ts';

/** The link of one node, as the dispatcher that holds it tells the others. Ids are UUIDs. */
export interface FleetNode {
  readonly nodeId: string;
  readonly dispatcherId: string;
  readonly linkId: string;
  /** What `join` answered for this link; 0 for a new one, which thereby is newer than all others. */
  readonly epoch: number;
  /** The number of the link in Postgres: it decides which of two links is newer. */
  readonly linkEpoch: number;
  readonly jobTypes: readonly string[];
  readonly slots: number;
  /** No more offers: counts in nothing. */
  readonly draining: boolean;
  /** The submissions that hold one of its slots. */
  readonly submissionIds: readonly string[];
}

export interface ReserveInput {
  readonly dispatcherId: string;
  readonly jobType: string;
  readonly tier: Tier;
  readonly excludeNodeIds: readonly string[];
  readonly submissionId: string;
  /** How long the slot stays reserved unless it is confirmed or released. */
  readonly ttlMs: number;
}

/**
 * `no_headroom`: too few slots are free for the tier, or there are none at all. `none_left`: all
 * nodes with a free slot are excluded. `rebuilding`: the same, but the registry began only just
 * now, so that nodes may still be missing. `lost`: Redis has lost the registry; refresh, and join
 * all nodes again.
 */
export type Reservation =
  | {
      readonly kind: 'reserved';
      readonly nodeId: string;
      readonly dispatcherId: string;
      readonly linkId: string;
    }
  | { readonly kind: 'no_headroom' | 'none_left' | 'rebuilding' | 'lost' };

export interface FleetRegistry {
  /** Heartbeat of a dispatcher. `unknown`: the registry has lost it; join all its nodes again. */
  refresh(dispatcherId: string): Promise<'known' | 'unknown'>;
  /** Enters a link, or brings its entry up to date. `superseded`: the node has a newer link. */
  join(
    node: FleetNode,
  ): Promise<{ readonly kind: 'joined'; readonly epoch: number } | { readonly kind: 'superseded' }>;
  /** Removes a link, unless the node has another one by now. */
  leave(nodeId: string, linkId: string): Promise<void>;
  /**
   * Reserves a slot of the eligible node that has the most of them free, in one atomic step that
   * any dispatcher may take (CONTRACT 7): the headroom of the tier is counted first. What
   * is reserved, confirmed and released at the same time shares a call, and fails together.
   */
  reserve(input: ReserveInput): Promise<Reservation>;
  /** The reserved slot is taken until it is released. */
  confirm(nodeId: string, submissionId: string): Promise<void>;
  /**
   * The slot is free again; nothing happens where it was. `silent`: the node left the offer
   * unanswered, and for a while others are asked before it, however few slots they have.
   */
  release(
    nodeId: string,
    submissionId: string,
    options?: { readonly silent: boolean },
  ): Promise<void>;
  /**
   * Nobody listens for this dispatcher any more: its nodes are not chosen and will be dropped, as
   * if it had been silent for too long. If it is there after all, its next refresh says `unknown`.
   */
  suspect(dispatcherId: string): Promise<void>;
  /** The slots of the nodes that are connected and not draining; of all job types without one. */
  capacity(jobType?: string): Promise<{ readonly slots: number; readonly free: number }>;
}

/** Nodes of a dispatcher that was not heard for this long are dropped. */
export const dispatcherSilentMs = 15_000;
/** For so long a node that left an offer unanswered is asked after all others. */
export const silentNodeMs = 60_000;
/** A dispatcher refreshes about this often, so that a lost registry is whole again soon after. */
export const fleetRefreshIntervalMs = 1_000;
/** While a registry is younger, missing capacity may be capacity that was not entered yet. */
export const fleetRebuildingMs = 1_500;

const refresh = redisScript(refreshScript);
const join = redisScript(joinScript);
const leave = redisScript(leaveScript);
const steps = redisScript(stepsScript);

/** How many steps one call of the script takes: few enough that nobody waits long for Redis. */
const stepsMax = 64;

/** Of `stepsScript`, with its arguments. */
type Step = readonly ['reserve' | 'confirm' | 'release', ...(string | number)[]];

/** The domain's rule, asked for a hundred slots, is the share that the script applies to S slots. */
function reservedHundredths(tier: Tier): number {
  let free = 0;
  while (!hasHeadroom(tier, 100, free)) free += 1;
  return free - 1;
}

const reserved: Readonly<Record<Tier, number>> = {
  standard: reservedHundredths('standard'),
  priority: reservedHundredths('priority'),
  instant: reservedHundredths('instant'),
};

const refusals = ['no_headroom', 'none_left', 'rebuilding', 'lost'] as const;

function readReservation(answer: unknown): Reservation {
  const [kind, nodeId, dispatcherId, linkId]: unknown[] = Array.isArray(answer) ? answer : [];
  if (
    kind === 'reserved' &&
    typeof nodeId === 'string' &&
    typeof dispatcherId === 'string' &&
    typeof linkId === 'string'
  ) {
    return { kind, nodeId, dispatcherId, linkId };
  }
  const refusal = refusals.find((known) => known === kind);
  if (refusal !== undefined) return { kind: refusal };
  throw new Error('the fleet registry answered what it cannot have');
}

/**
 * Several steps in one atomic call. Slots are freed and kept, in the order that was asked for,
 * before new ones are given: nobody is refused for a slot that is free by then.
 */
async function takeSteps(
  redis: Redis,
  call: { readonly key: string; readonly now: string; readonly waiting: readonly Step[] },
): Promise<readonly unknown[]> {
  const { key, now, waiting } = call;
  const isAsking = ([kind]: Step): boolean => kind === 'reserve';
  const ordered = [...waiting.filter((step) => !isAsking(step)), ...waiting.filter(isAsking)];
  const answers = await steps(redis, key, [
    now,
    dispatcherSilentMs,
    fleetRebuildingMs,
    JSON.stringify(ordered),
  ]);
  if (!Array.isArray(answers)) throw new Error('the fleet registry answered no list');
  const byStep = new Map(ordered.map((step, index) => [step, answers[index]]));
  return waiting.map((step) => byStep.get(step));
}

/**
 * The fleet in Redis, shared by all dispatchers: which dispatcher holds the link of each node, and
 * how many of its slots are free. It is a cache of the connected links and rebuilt from them when
 * Redis loses it. All times are Redis's own; `nowMs` replaces them in tests. Everything throws
 * when Redis cannot be reached.
 */
export function createFleetRegistry({
  redis,
  prefix,
  nowMs,
}: {
  readonly redis: Redis;
  readonly prefix: string;
  readonly nowMs?: () => number;
}): FleetRegistry {
  const key = `${keyPrefix(prefix)}:fleet`;
  const now = (): string => (nowMs === undefined ? '' : String(nowMs()));
  const inOneCall = createCallBatcher<Step, unknown>({
    sizeMax: stepsMax,
    run: (waiting) => takeSteps(redis, { key, now: now(), waiting }),
  });

  return {
    async refresh(dispatcherId) {
      const known = await refresh(redis, key, [now(), dispatcherId, dispatcherSilentMs]);
      return known === 1 ? 'known' : 'unknown';
    },
    async join({ submissionIds, ...node }) {
      const epoch = await join(redis, key, [now(), JSON.stringify(node), ...submissionIds]);
      if (typeof epoch !== 'number') throw new Error('the fleet registry answered no epoch');
      return epoch < 0 ? { kind: 'superseded' } : { kind: 'joined', epoch };
    },
    async leave(nodeId, linkId) {
      await leave(redis, key, [now(), nodeId, linkId]);
    },
    async reserve(input) {
      const answer = await inOneCall([
        'reserve',
        input.dispatcherId,
        input.jobType,
        reserved[input.tier],
        input.submissionId,
        Math.ceil(input.ttlMs),
        ...input.excludeNodeIds,
      ]);
      return readReservation(answer);
    },
    async confirm(nodeId, submissionId) {
      await inOneCall(['confirm', nodeId, submissionId]);
    },
    async release(nodeId, submissionId, { silent } = { silent: false }) {
      await inOneCall(['release', nodeId, submissionId, silent ? silentNodeMs : 0]);
    },
    async suspect(dispatcherId) {
      await redis.zadd(`${key}:dispatchers`, 'XX', 0, dispatcherId);
    },
    async capacity(jobType = '*') {
      const [slots, free] = await redis.hmget(
        `${key}:totals`,
        `${jobType}:slots`,
        `${jobType}:free`,
      );
      return { slots: Number(slots ?? 0), free: Number(free ?? 0) };
    },
  };
}

/** The link of a node as the registry has it. */
interface FleetLink {
  readonly dispatcherId: string;
  readonly jobTypes: readonly string[];
  readonly slots: number;
  readonly free: number;
  readonly draining: boolean;
}

/** By node; one that is missing is not linked. */
export type FleetLinks = ReadonlyMap<string, FleetLink>;

/** For people to look at: the links of these nodes. Throws when Redis cannot be reached. */
export async function readFleetLinks(
  redis: Redis,
  prefix: string,
  nodeIds: readonly string[],
): Promise<FleetLinks> {
  if (nodeIds.length === 0) return new Map();
  const key = `${keyPrefix(prefix)}:fleet`;
  const texts = await redis.hmget(`${key}:nodes`, ...nodeIds);
  const found = texts.flatMap((text): FleetNode[] => (text === null ? [] : [JSON.parse(text)]));
  const links = found.map(async (node): Promise<[string, FleetLink]> => {
    const { nodeId, dispatcherId, jobTypes, slots, draining } = node;
    const taken = await redis.hlen(`${key}:tokens:${nodeId}`);
    const free = Math.max(0, slots - taken);
    // Lua writes an empty list as an empty object.
    const types = Array.isArray(jobTypes) ? jobTypes : [];
    return [nodeId, { dispatcherId, jobTypes: types, slots, free, draining }];
  });
  return new Map(await Promise.all(links));
}
