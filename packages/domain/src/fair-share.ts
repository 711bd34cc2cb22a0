/**
 * Shares free slots between tenants while slots are short (CONTRACT 7, decision 40). A test
 * compares this code with the Redis script that the service runs.
 */

/**
 * The counts of asks and grants decay with this time constant. After this time, 37 % of a count is
 * left.
 */
export const shareMemoryMs = 30_000;
/** `backlogMax`, the recent maximum of the backlog, decays with this time constant. */
export const backlogMemoryMs = 300_000;
/** A contention is a time in which slots are short. It ends this long after `refusedAtMs`. */
export const contentionMs = 60_000;
/**
 * A turn decays the counts of asks and grants, and computes the shares again. `withAsk` makes a
 * turn if the last turn was at least this long ago.
 */
export const shareTurnMs = 100;
/** The shortest time for which a tenant counts as asking after its last ask. */
export const askingMsMin = 1_000;
/** The longest time for which a tenant counts as asking after its last ask. */
export const askingMsMax = 600_000;
/**
 * A gap is the time between two successive asks of a tenant. A tenant with a longest recent gap of
 * 10 s counts as asking for 3 × 10 s after its last ask.
 */
export const askingGaps = 3;
/**
 * The longest recent gap shrinks by this fraction of each shorter new gap. For example, a new gap
 * of 2 s changes 10 s to 10 - 0.3 × 2 = 9.4 s. The result is never below the new gap.
 */
export const gapShrink = 0.3;
/**
 * Each tenant is guaranteed this part of its max-min fair share. The other slots go to the tenants
 * that ask first.
 */
export const guaranteedPart = 0.9;
/**
 * For a tier with one usable slot. After a tenant within its share got no slot (`starvedAtMs`), the
 * slot is kept from tenants above their share for at most this long.
 */
export const yieldMs = 2_000;
/**
 * `keptFree` adds a reserve of at most 1 slot to `backlogMax`. With fewer than this many usable
 * slots, the reserve is smaller in proportion.
 */
export const slotsPerSpare = 32;
/** The most tenants that one `Contention` remembers. */
export const contendersMax = 64;
/** A tenant that stopped asking is forgotten when its decayed count of grants is below this. */
export const grantsKeptMin = 0.05;

export interface Contender {
  readonly asks: number;
  readonly grants: number;
  readonly askedAtMs: number;
  /**
   * The longest recent gap between two successive asks. Each shorter gap reduces it (`gapShrink`).
   * 0 after the first ask, and after a gap over `askingMsMax`.
   */
  readonly gapMs: number;
}

/**
 * The stored state of one job type and tier while their slots are short. The contention ends
 * `contentionMs` after `refusedAtMs`.
 */
export interface Contention {
  /** The time of the first ask that got no slot although `SlotAsk.usable` was above 0. */
  readonly beganAtMs: number;
  /** The last time at which an ask with `usable` above 0 (`SlotAsk`) got no slot. */
  readonly refusedAtMs: number;
  /** The time of the last turn (`shareTurnMs`). */
  readonly turnAtMs: number;
  /** A tenant with more grants than this is above its share. */
  readonly level: number;
  /**
   * The estimated grants per ms to all tenants in `tenants` together, computed at the last turn.
   */
  readonly rate: number;
  readonly asking: number;
  /**
   * The number of tenants that, at the last turn, counted as asking and were not above their share.
   */
  readonly below: number;
  /**
   * The length, at the time `backlogAtMs`, of an imagined queue that drains at `rate`. Only asks of
   * tenants within their share join the queue.
   */
  readonly backlog: number;
  readonly backlogAtMs: number;
  /** The recent maximum of `backlog`. It decays with `backlogMemoryMs`. */
  readonly backlogMax: number;
  /**
   * The last time at which a tenant got no slot although it was not above its share. It is set only
   * while at least two tenants count as asking. 0 if it was never set.
   */
  readonly starvedAtMs: number;
  readonly tenants: Readonly<Record<string, Contender>>;
}

export interface SlotAsk {
  readonly tenantId: string;
  /** The number of slots that the tier may use, free or taken: all slots minus the headroom. */
  readonly usable: number;
  readonly free: number;
  /** Unix time, like all times in a `Contention`. */
  readonly nowMs: number;
}

/**
 * `no_slot`: no slot is free. `kept_free`: the free slots are kept for tenants below their share.
 */
export type SlotDecision = 'granted' | 'no_slot' | 'kept_free';

export interface SlotAnswer {
  readonly decision: SlotDecision;
  /** Undefined if there is no contention after the ask. */
  readonly contention: Contention | undefined;
}

/**
 * True if more than half of the usable slots are free. Always false with one usable slot, because
 * tenants above their share may have to leave it to others (`yieldMs`).
 */
function areSlotsAmple({ usable, free }: SlotAsk): boolean {
  return usable > 1 && free * 2 > usable;
}

/**
 * Decides whether an ask gets a slot. Does not change `before`: the answer contains the contention
 * after the ask.
 */
export function askForSlot(before: Contention | undefined, ask: SlotAsk): SlotAnswer {
  const known = before !== undefined && isOver(before, ask.nowMs) ? undefined : before;
  if (ask.usable <= 0) return { decision: 'no_slot', contention: known };
  if (areSlotsAmple(ask)) return { decision: 'granted', contention: known };
  if (known === undefined && ask.free > 0) return { decision: 'granted', contention: undefined };
  const asked = withAsk(known ?? newContention(ask.nowMs), ask);
  const isAbove = grantsOf(asked, ask.tenantId) > asked.level;
  const isContended = asked.asking > 1;
  const waiting = isAbove || !isContended ? asked : withBacklog(asked, ask);
  if (ask.free <= 0) {
    const starved = isAbove || !isContended ? {} : { starvedAtMs: ask.nowMs };
    return { decision: 'no_slot', contention: { ...waiting, ...starved, refusedAtMs: ask.nowMs } };
  }
  if (isAbove && asked.below > 0 && ask.free <= keptFree(waiting, ask)) {
    return { decision: 'kept_free', contention: { ...waiting, refusedAtMs: ask.nowMs } };
  }
  return { decision: 'granted', contention: withGrant(waiting, ask.tenantId) };
}

function isOver({ refusedAtMs }: Contention, nowMs: number): boolean {
  return nowMs - refusedAtMs >= contentionMs;
}

function newContention(nowMs: number): Contention {
  return {
    beganAtMs: nowMs,
    refusedAtMs: nowMs,
    turnAtMs: nowMs,
    level: 0,
    rate: 0,
    asking: 0,
    below: 0,
    backlog: 0,
    backlogAtMs: nowMs,
    backlogMax: 0,
    starvedAtMs: 0,
    tenants: {},
  };
}

function grantsOf({ tenants }: Contention, tenantId: string): number {
  return tenants[tenantId]?.grants ?? 0;
}

function isAsking({ askedAtMs, gapMs }: Contender, nowMs: number): boolean {
  const forMs = Math.min(Math.max(askingGaps * gapMs, askingMsMin), askingMsMax);
  return nowMs - askedAtMs < forMs;
}

function withAsk(before: Contention, ask: SlotAsk): Contention {
  const { tenantId, nowMs } = ask;
  const known = before.tenants[tenantId];
  const hasReturned = known === undefined || !isAsking(known, nowMs);
  const sinceMs = known === undefined ? 0 : Math.max(0, nowMs - known.askedAtMs);
  const contender = {
    asks: (known?.asks ?? 0) + 1,
    grants: known?.grants ?? 0,
    askedAtMs: nowMs,
    gapMs: sinceMs > askingMsMax ? 0 : Math.max(sinceMs, (known?.gapMs ?? 0) - sinceMs * gapShrink),
  };
  const tenants = { ...before.tenants, [tenantId]: contender };
  const after = { ...before, tenants };
  // A turn is made at once if the tenant did not count as asking before.
  return hasReturned || nowMs - before.turnAtMs >= shareTurnMs ? afterTurn(after, ask) : after;
}

function afterTurn(before: Contention, { nowMs }: SlotAsk): Contention {
  const elapsedMs = Math.max(0, nowMs - before.turnAtMs);
  const factor = Math.exp(-elapsedMs / shareMemoryMs);
  const decayed = Object.entries(before.tenants)
    .map(([id, one]) => ({ id, ...one, asks: one.asks * factor, grants: one.grants * factor }))
    .filter((one) => isAsking(one, nowMs) || one.grants >= grantsKeptMin)
    .toSorted((a, b) => b.askedAtMs - a.askedAtMs || (a.id < b.id ? -1 : 1))
    .slice(0, contendersMax);
  const grants = decayed.reduce((sum, one) => sum + one.grants, 0);
  const asking = decayed.filter((one) => isAsking(one, nowMs));
  const demands = asking.map(({ asks }) => asks);
  const level = waterLevel(demands, grants * guaranteedPart);
  // At a constant rate, `grants` grows from 0 towards `rate * shareMemoryMs`. `counted` is the part
  // of this value that `grants` has reached.
  const counted = 1 - Math.exp(-Math.max(shareTurnMs, nowMs - before.beganAtMs) / shareMemoryMs);
  return {
    ...before,
    turnAtMs: nowMs,
    level,
    rate: grants / shareMemoryMs / counted,
    asking: asking.length,
    below: asking.filter((one) => one.grants <= level).length,
    backlogMax: before.backlogMax * Math.exp(-elapsedMs / backlogMemoryMs),
    tenants: Object.fromEntries(decayed.map(({ id, ...one }) => [id, one])),
  };
}

/**
 * The max-min fair share of `capacity`: no demand gets more. For example, demands of 1, 5 and 6 get
 * 1, 4 and 4 of 9. If the demands do not use up `capacity`, returns `capacity`.
 */
export function waterLevel(demands: readonly number[], capacity: number): number {
  let left = capacity;
  let sharing = demands.length;
  for (const demand of demands.toSorted((a, b) => a - b)) {
    if (demand * sharing >= left) return left / sharing;
    left -= demand;
    sharing -= 1;
  }
  return capacity;
}

/**
 * Adds an ask to the imagined queue (`backlog`). The ask counts as `level` divided by the `asks` of
 * its tenant, at most 1. With a `level` of 10 and 20 `asks`, it counts as 0.5.
 */
function withBacklog(before: Contention, { tenantId, usable, nowMs }: SlotAsk): Contention {
  const asks = before.tenants[tenantId]?.asks ?? 1;
  const drained = before.backlog - before.rate * Math.max(0, nowMs - before.backlogAtMs);
  const part = Math.min(1, before.level / asks);
  const backlog = Math.min(Math.max(0, drained) + part, usable / 2);
  const backlogMax = Math.max(backlog, before.backlogMax);
  return { ...before, backlog, backlogAtMs: nowMs, backlogMax };
}

/**
 * The number of free slots that tenants above their share leave to the others. With one usable
 * slot, the number is 1 for `yieldMs` after `starvedAtMs`, otherwise 0.
 */
function keptFree({ backlogMax, starvedAtMs }: Contention, { usable, nowMs }: SlotAsk): number {
  const spare = Math.min(1, usable / slotsPerSpare);
  const needed = Math.min(Math.max(1, Math.ceil(backlogMax + spare)), Math.floor(usable / 2));
  return nowMs - starvedAtMs < yieldMs ? Math.max(needed, 1) : needed;
}

function withGrant(before: Contention, tenantId: string): Contention {
  const one = before.tenants[tenantId];
  if (one === undefined) return before;
  const tenants = { ...before.tenants, [tenantId]: { ...one, grants: one.grants + 1 } };
  return { ...before, tenants };
}
