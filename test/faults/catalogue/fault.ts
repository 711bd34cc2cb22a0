import type { ServiceName } from '@svc/local';
import type { Random } from '../../simulation/random.ts';
import type { World } from '../world/types.ts';

export interface Fault {
  readonly kind: string;
  readonly name: string;
  readonly lastsMs: number;
  strike(world: World): Promise<void> | void;
  heal(world: World): Promise<void> | void;
}

/**
 * The possible targets of faults. They are fixed before the run, so a seed gives the same schedule
 * again.
 */
export interface Targets {
  readonly services: readonly { readonly service: ServiceName; readonly name: string }[];
  readonly nodes: readonly string[];
  readonly proxies: readonly string[];
  readonly disksCanBeFull: boolean;
}

export interface Pace {
  readonly lastsMs: readonly [least: number, most: number];
  /** The time for which SIGSTOP stops a process. */
  readonly pauseMs: number;
}

export interface FaultKind {
  readonly kind: string;
  readonly weight: number;
  /** Draws a fault of this kind. Undefined if this machine or this stack has no target for it. */
  plan(random: Random, targets: Targets, pace: Pace): Fault | undefined;
}

interface Lasting {
  readonly name: string;
  /**
   * Added to the time that is drawn from `Pace.lastsMs`, so the fault does not end before it has an
   * effect.
   */
  readonly atLeastMs?: number;
  readonly strike: Fault['strike'];
  readonly heal: Fault['heal'];
}

export function lastingKind(
  kind: string,
  weight: number,
  draw: (random: Random, targets: Targets) => Lasting | undefined,
): FaultKind {
  return {
    kind,
    weight,
    plan(random, targets, { lastsMs: [least, most] }) {
      const drawn = draw(random, targets);
      if (drawn === undefined) return undefined;
      const { name, atLeastMs = 0, strike, heal } = drawn;
      const lastsMs = atLeastMs + least + random.nat(most - least);
      return { kind, name: `${name} for ${seconds(lastsMs)}`, lastsMs, strike, heal };
    },
  };
}

export function momentaryKind(
  kind: string,
  weight: number,
  draw: (random: Random, targets: Targets) => Pick<Fault, 'name' | 'strike'> | undefined,
): FaultKind {
  return {
    kind,
    weight,
    plan(random, targets) {
      const drawn = draw(random, targets);
      return drawn && { ...drawn, kind, lastsMs: 0, heal: () => {} };
    },
  };
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
