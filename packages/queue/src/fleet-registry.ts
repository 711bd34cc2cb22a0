import { hasHeadroom, type Tier } from '@svc/domain';
import type { Redis } from 'ioredis';
import { createCallBatcher } from './call-batcher.ts';
import {
  joinScript,
  leaveScript,
  othersScript,
  refreshScript,
  stepsScript,
} from './fleet-scripts.ts';
import { redisScript } from './redis-script.ts';
import { keyPrefix } from './redis.ts';

/**
 * The link of one node, as its dispatcher enters it into the registry. All ids are UUIDs, without a
 * prefix such as `nod_`.
 */
export interface FleetNode {
  readonly nodeId: string;
  readonly dispatcherId: string;
  readonly linkId: string;
  /**
   * The number of the link in the registry. 0 before the first `join` of the link, then the number
   * that `join` returned.
   */
  readonly epoch: number;
  /**
   * The number of the link in Postgres. If a node has two links, the one with the higher number is
   * newer.
   */
  readonly linkEpoch: number;
  readonly jobTypes: readonly string[];
  readonly slots: number;
  /** True if the node gets no more offers. `capacity` then does not count its slots. */
  readonly draining: boolean;
  /**
   * The submissions that the node has accepted or runs on this link. Each takes one slot. Offers
   * without an answer are not included.
   */
  readonly submissionIds: readonly string[];
}

export interface ReserveInput {
  readonly dispatcherId: string;
  readonly jobType: string;
  readonly tier: Tier;
  readonly excludeNodeIds: readonly string[];
  readonly submissionId: string;
  /**
   * While slots are short, a tenant above its share may be refused (CONTRACT 7). Undefined skips
   * this check: the tenant is unknown, or the submission was offered before.
   */
  readonly tenantId?: string | undefined;
  /** The time until the reservation expires if it is neither confirmed nor released. */
  readonly ttlMs: number;
}

export type Reservation =
  | {
      readonly kind: 'reserved';
      readonly nodeId: string;
      readonly dispatcherId: string;
      readonly linkId: string;
    }
  | {
      readonly kind:
        /** Too few slots are free for the tier, or the free slots are kept for other tenants. */
        | 'no_headroom'
        /** All nodes with a free slot are in `excludeNodeIds`. */
        | 'none_left'
        /** Like `no_headroom` or `none_left`, but nodes may be missing from the registry. */
        | 'rebuilding'
        /**
         * The registry has lost the dispatcher that asks: call `refresh`, and `join` for each of
         * its nodes.
         */
        | 'lost';
    };

export interface FleetRegistry {
  /**
   * Sends the heartbeat of a dispatcher. `unknown`: before this heartbeat, the registry did not
   * have the dispatcher or counted it as dead. Then call `join` for each of its nodes.
   */
  refresh(dispatcherId: string): Promise<'known' | 'unknown'>;
  /**
   * Adds a link, or updates its entry. A new link gets a higher `epoch` than the link that it
   * replaces. `superseded`: the node has a newer link.
   */
  join(
    node: FleetNode,
  ): Promise<{ readonly kind: 'joined'; readonly epoch: number } | { readonly kind: 'superseded' }>;
  /** Removes a link. Does nothing if the registry has another link of the node. */
  leave(
    nodeId: string,
    linkId: string,
    options?: {
      /**
       * Unless the node is draining, it is expected at another dispatcher within this time. While a
       * node is expected, `reserve` returns `rebuilding` if no slot is found.
       */
      readonly movesWithinMs: number;
    },
  ): Promise<void>;
  /**
   * Reserves a slot atomically, or refuses. Chooses the node with the most free slots, or an own
   * node that is nearly as free (CONTRACT 7). Silent nodes come last.
   */
  reserve(input: ReserveInput): Promise<Reservation>;
  /**
   * Takes the slot without an expiry, even if the reservation has expired. Also ends the silence of
   * the node. Does nothing if the registry lacks the node.
   */
  confirm(nodeId: string, submissionId: string): Promise<void>;
  /** Frees the slot. A slot that is already free stays free. */
  release(
    nodeId: string,
    submissionId: string,
    options?: {
      /** True if the node had time to answer the offer and did not (see `silentNodeMs`). */
      readonly silent: boolean;
    },
  ): Promise<void>;
  /**
   * Call it if a message to a dispatcher found no subscriber. `reserve` then skips the nodes of
   * this dispatcher. If the dispatcher still runs, its next `refresh` returns `unknown`.
   */
  suspect(dispatcherId: string): Promise<void>;
  /** True if another dispatcher has sent a heartbeat in the last `dispatcherSilentMs`. */
  hasOthers(dispatcherId: string): Promise<boolean>;
  /**
   * Counts the slots of all nodes, or of those with `jobType`, and how many of these slots are
   * free. Draining nodes do not count.
   */
  capacity(jobType?: string): Promise<{ readonly slots: number; readonly free: number }>;
}

/** If a dispatcher sends no heartbeat for this long, the registry drops its nodes. */
export const dispatcherSilentMs = 15_000;
/**
 * A node that did not answer an offer counts as silent for at most this time. `reserve` chooses
 * silent nodes last.
 */
export const silentNodeMs = 60_000;
/**
 * A dispatcher calls `refresh` at this interval. If the call shows that Redis has lost the
 * registry, the dispatcher registers its nodes again.
 */
export const fleetRefreshIntervalMs = 1_000;
/** While the registry is younger than this, nodes may be missing from it. */
export const fleetRebuildingMs = 1_500;

const refresh = redisScript(refreshScript);
const join = redisScript(joinScript);
const leave = redisScript(leaveScript);
const steps = redisScript(stepsScript);
const others = redisScript(othersScript);

/** The most steps in one call of `stepsScript`, so that a call blocks Redis only briefly. */
const stepsMax = 64;

type Step = readonly ['reserve' | 'confirm' | 'release', ...(string | number)[]];

/** The number of slots, out of 100, that the tier must leave free according to `hasHeadroom`. */
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
  throw new Error('the fleet registry gave an unknown answer to a reservation');
}

/**
 * Returns the answers in the order of `waiting`. But releases and confirmations run first, so that
 * a reservation can get a slot that the same call frees.
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
  if (!Array.isArray(answers)) throw new Error('the fleet registry returned no list');
  const byStep = new Map(ordered.map((step, index) => [step, answers[index]]));
  return waiting.map((step) => byStep.get(step));
}

/**
 * The registry of all connected nodes and their free slots. It is in Redis, and all dispatchers
 * share it. All methods throw if Redis is unreachable.
 */
export function createFleetRegistry({
  redis,
  prefix,
  nowMs,
}: {
  readonly redis: Redis;
  readonly prefix: string;
  /** For tests. The default is Redis's clock. */
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
      if (typeof epoch !== 'number') throw new Error('the fleet registry returned no epoch');
      return epoch < 0 ? { kind: 'superseded' } : { kind: 'joined', epoch };
    },
    async leave(nodeId, linkId, { movesWithinMs } = { movesWithinMs: 0 }) {
      await leave(redis, key, [now(), nodeId, linkId, movesWithinMs]);
    },
    async reserve(input) {
      const answer = await inOneCall([
        'reserve',
        input.dispatcherId,
        input.jobType,
        reserved[input.tier],
        input.submissionId,
        Math.ceil(input.ttlMs),
        input.tenantId ?? '',
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
    async hasOthers(dispatcherId) {
      const answer = await others(redis, key, [now(), dispatcherId, dispatcherSilentMs]);
      return typeof answer === 'number' && answer > 0;
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

interface FleetLink {
  readonly dispatcherId: string;
  readonly jobTypes: readonly string[];
  readonly slots: number;
  readonly free: number;
  readonly draining: boolean;
}

export type FleetLinks = ReadonlyMap<string, FleetLink>;

/**
 * Reads the links of these nodes, for display. A node without a link is not in the map. Throws if
 * a command to Redis fails.
 */
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
