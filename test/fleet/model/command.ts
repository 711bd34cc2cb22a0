import * as fc from 'fast-check';
import type { Auditor } from './auditor.ts';

export interface Playground {
  readonly auditor: Auditor;
  readonly ran: string[];
  settled(): Promise<void>;
}

/**
 * One step, as a fast-check command. Unless `isAwaited`, the next command races with the effects of
 * this one. Throws the first violation that the auditor has found.
 */
export class Command<World extends Playground> implements fc.AsyncCommand<object, World> {
  readonly #name: string;
  readonly #n: number;
  readonly #step: Step<World>;
  readonly #isAwaited: boolean;

  constructor(name: string, n: number, step: Step<World>, isAwaited: boolean) {
    this.#name = name;
    this.#n = n;
    this.#step = step;
    this.#isAwaited = isAwaited;
  }

  check(): boolean {
    return true;
  }

  async run(_model: object, world: World): Promise<void> {
    world.ran.push(this.#name);
    await this.#step(world, this.#n);
    if (this.#isAwaited) await world.settled();
    const [violation] = world.auditor.violations;
    if (violation !== undefined) throw new Error(violation);
  }

  toString(): string {
    return `${this.#name} ${this.#n}${this.#isAwaited ? '' : '!'}`;
  }
}

type Step<World> = (world: World, n: number) => Promise<void> | void;

const any = fc.nat(1_000);
const isAwaited = fc.integer({ min: 0, max: 9 }).map((n) => n < 6);

/** Returns the command `weight` times. fast-check draws a command with more weight more often. */
export function by<World extends Playground>(
  weight: number,
  name: string,
  step: Step<World>,
): fc.Arbitrary<Command<World>>[] {
  const one = fc.tuple(any, isAwaited).map(([n, awaited]) => new Command(name, n, step, awaited));
  return Array.from({ length: weight }, () => one);
}
