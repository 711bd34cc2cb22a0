import { askForSlot, type Contention, type SlotDecision } from './fair-share.ts';

export interface SimulatedTenant {
  readonly id: string;
  readonly perSecond: number;
  readonly burst?: number;
  readonly fromMs?: number;
  readonly untilMs?: number;
}

export interface SimulatedFleet {
  readonly usable: number;
  /** The average length of a run. A run takes between 0.5 and 1.5 times this length. */
  readonly runMs: number;
  readonly forMs: number;
  readonly seed: number;
  /** True: `askForSlot` decides about each ask. False: an ask gets a slot if one is free. */
  readonly isFair: boolean;
  readonly tenants: readonly SimulatedTenant[];
}

export interface SimulatedAsk {
  readonly atMs: number;
  readonly tenantId: string;
  readonly free: number;
  readonly decision: SlotDecision;
}

const seedMax = 2_147_483_647;

/** Park and Miller's generator. The returned function gives numbers above 0 and below 1. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % seedMax;
    return state / seedMax;
  };
}

/**
 * Simulates tenants that ask for slots at random times (Poisson), `burst` asks at a time. A refused
 * ask is not repeated.
 */
export function simulateFleet(fleet: SimulatedFleet): SimulatedAsk[] {
  const { usable, runMs, forMs, isFair, tenants } = fleet;
  const random = randomOf(fleet.seed);
  const asks = tenants.flatMap((tenant) => arrivalsOf(tenant, forMs, random));
  asks.sort((a, b) => a.atMs - b.atMs);
  let endsAtMs: number[] = [];
  let contention: Contention | undefined;
  return asks.map(({ atMs, tenantId }) => {
    endsAtMs = endsAtMs.filter((endMs) => endMs > atMs);
    const free = usable - endsAtMs.length;
    let decision: SlotDecision = free > 0 ? 'granted' : 'no_slot';
    if (isFair) {
      const answer = askForSlot(contention, { tenantId, usable, free, nowMs: atMs });
      ({ decision, contention } = answer);
    }
    if (decision === 'granted') endsAtMs.push(atMs + runMs * (0.5 + random()));
    return { atMs, tenantId, free, decision };
  });
}

function arrivalsOf(
  { id: tenantId, perSecond, burst = 1, fromMs = 0, untilMs }: SimulatedTenant,
  forMs: number,
  random: () => number,
): { atMs: number; tenantId: string }[] {
  const found: { atMs: number; tenantId: string }[] = [];
  const pauseMs = (): number => (-Math.log(1 - random()) * 1_000 * burst) / perSecond;
  for (let atMs = fromMs + pauseMs(); atMs < (untilMs ?? forMs); atMs += pauseMs()) {
    for (let count = 0; count < burst; count += 1) found.push({ atMs: Math.round(atMs), tenantId });
  }
  return found;
}

export function acceptedPart(
  asks: readonly SimulatedAsk[],
  tenantId: string,
  fromMs = 20_000,
): number {
  const own = asks.filter((ask) => ask.tenantId === tenantId && ask.atMs >= fromMs);
  return own.filter(({ decision }) => decision === 'granted').length / own.length;
}
