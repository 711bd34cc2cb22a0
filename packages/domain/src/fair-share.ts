/**
 * Shares the free slots of one job type and tier between tenants while slots are short (CONTRACT 7,
 * "Fairness"). The Redis script of the fleet registry follows this rule. Times are Unix time in ms by
 * one clock. docs/decisions/0040 explains the rule.
 */

/** Counts of asks and grants decay with this time constant. */
export const shareMemoryMs = 30_000;
/** The largest recent backlog decays with this time constant. */
export const backlogMemoryMs = 300_000;
/** The contention ends this long after the last ask that got no slot. */
export const contentionMs = 60_000;
/** Counts decay and the level is computed at most once in this time. */
export const shareTurnMs = 100;
/** A tenant counts as asking for this long after its last ask, or longer if it asks rarely. */
export const askingMsMin = 1_000;
export const askingMsMax = 600_000;
/** A tenant counts as asking for this many of its longest recent gaps between two asks. */
export const askingGaps = 3;
/** The longest recent gap shrinks by this part of every shorter gap. Asks of one moment count as one. */
export const gapShrink = 0.3;
/** Each tenant is guaranteed this part of its max-min fair share. The rest is first come. */
export const guaranteedPart = 0.9;
/** After a tenant below its share got no slot, one slot is kept free for this long. */
export const yieldMs = 2_000;
/** One more slot in this many is kept free, at most one. */
export const slotsPerSpare = 32;
/** The most tenants that one contention remembers. */
export const contendersMax = 64;
/** Records of tenants that stopped asking are dropped when fewer grants than this are left. */
export const grantsKeptMin = 0.05;

export interface Contender {
  /** How often it asked lately: a count that decays. */
  readonly asks: number;
  /** How many slots it got lately: a count that decays. */
  readonly grants: number;
  readonly askedAtMs: number;
  /** The longest recent time between two asks. */
  readonly gapMs: number;
}

/** The memory of one job type and tier while its slots are short. */
export interface Contention {
  readonly beganAtMs: number;
  /** The last time at which an ask got no slot. */
  readonly refusedAtMs: number;
  /** The last time at which the counts decayed. */
  readonly turnAtMs: number;
  /** A tenant with more grants than this is above its share. */
  readonly level: number;
  /** Grants per ms. */
  readonly rate: number;
  /** The number of tenants that ask, and of those that are not above their share. */
  readonly asking: number;
  readonly below: number;
  /**
   * The asks of tenants below their share that would wait if there was a queue served at `rate`. Its
   * recent maximum is the number of free slots that these tenants need.
   */
  readonly backlog: number;
  readonly backlogAtMs: number;
  readonly backlogMax: number;
  /** The last time at which a tenant below its share got no slot. */
  readonly starvedAtMs: number;
  readonly tenants: Readonly<Record<string, Contender>>;
}

export interface SlotAsk {
  readonly tenantId: string;
  /** The slots that the tier may use. */
  readonly usable: number;
  /** Those of them that are free. */
  readonly free: number;
  readonly nowMs: number;
}

/** `no_slot`: none is free. `kept_free`: the free slots are kept for tenants below their share. */
export type SlotDecision = 'granted' | 'no_slot' | 'kept_free';

export interface SlotAnswer {
  readonly decision: SlotDecision;
  /** Undefined while slots are not short. */
  readonly contention: Contention | undefined;
}

/** True if so many slots are free that nobody is refused and nothing is counted. */
function areSlotsAmple({ usable, free }: SlotAsk): boolean {
  return free * 2 > usable;
}

/** Decides about one slot. Pure. */
export function askForSlot(before: Contention | undefined, ask: SlotAsk): SlotAnswer {
  const known = before !== undefined && isOver(before, ask.nowMs) ? undefined : before;
  // Without any slot there is nothing to share.
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
  return hasReturned || nowMs - before.turnAtMs >= shareTurnMs ? afterTurn(after, ask) : after;
}

/** Lets the counts decay, forgets tenants that do not ask, and computes the level. */
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
  // A count that began recently has not reached its final value.
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

/** The max-min fair share: the level at which the demands below it and it itself fill `capacity`. */
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

/** Asks above the tenant's share do not count: nothing is kept free for them. */
function withBacklog(before: Contention, { tenantId, usable, nowMs }: SlotAsk): Contention {
  const asks = before.tenants[tenantId]?.asks ?? 1;
  const drained = before.backlog - before.rate * Math.max(0, nowMs - before.backlogAtMs);
  const part = Math.min(1, before.level / asks);
  const backlog = Math.min(Math.max(0, drained) + part, usable / 2);
  const backlogMax = Math.max(backlog, before.backlogMax);
  return { ...before, backlog, backlogAtMs: nowMs, backlogMax };
}

/** The free slots that tenants above their share leave to the others: at most half of the slots. */
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
