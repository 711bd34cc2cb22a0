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

export function lasting(random: Random, { lastsMs: [least, most] }: Pace): number {
  return least + random.nat(most - least);
}

/** As a person reads it. */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
