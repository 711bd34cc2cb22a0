import type { ServiceName } from '@svc/local';
import type { Random } from '../../simulation/random.ts';
import type { World } from '../world/types.ts';

/** One thing that goes wrong: it strikes, lasts, and is healed. */
export interface Fault {
  readonly kind: string;
  /** As the report tells it. */
  readonly name: string;
  readonly lastsMs: number;
  strike(world: World): Promise<void> | void;
  heal(world: World): Promise<void> | void;
}

/** What there is to strike: fixed before the run, so that a seed gives the same schedule again. */
export interface Targets {
  readonly services: readonly { readonly service: ServiceName; readonly name: string }[];
  readonly nodes: readonly string[];
  readonly wires: readonly string[];
  readonly disksCanBeFull: boolean;
}

export interface Pace {
  /** How long what lasts goes on, in milliseconds. */
  readonly lastsMs: readonly [least: number, most: number];
  /** How long a process is stopped by SIGSTOP. */
  readonly pauseMs: number;
}

export interface FaultKind {
  readonly kind: string;
  /** How often it comes, beside the others. */
  readonly weight: number;
  /** Undefined: this machine, or this stack, has nothing that it could strike. */
  plan(random: Random, targets: Targets, pace: Pace): Fault | undefined;
}

/** What is particular to one fault of a kind that lasts as long as the pace says. */
interface Lasting {
  /** As the report tells it, before how long. */
  readonly name: string;
  /** What it needs beyond the pace to be felt at all. */
  readonly atLeastMs?: number;
  readonly strike: Fault['strike'];
  readonly heal: Fault['heal'];
}

/** A kind whose faults go on for a while that the pace decides. */
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

/** A kind whose faults are over as they strike. */
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

/** As a person reads it. */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
