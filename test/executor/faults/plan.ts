import { createRandom, type Random } from '../../simulation/random.ts';
import type { Ats, Behaviour } from '../employers/behaviours.ts';

/**
 * A strike disturbs a run: it kills the target. `both` is the agent and the browser. The target
 * `link` is cut without a close frame. With `none` there is no strike.
 */
export const targets = ['none', 'agent', 'browser', 'both', 'link'] as const;
type Target = (typeof targets)[number];

type Moment =
  /** After a fraction of the usual duration of the run, counted from `begin`. */
  | { readonly kind: 'time'; readonly fraction: number }
  /** After the journal has recorded `submitting`. */
  | { readonly kind: 'submitting'; readonly delayMs: number }
  /**
   * After an employer of this agent has received an application, even one of another run. With a
   * delay of 0, the strike begins before this employer answers.
   */
  | { readonly kind: 'receipt'; readonly delayMs: number };

export interface RunPlan {
  readonly ats: Ats;
  readonly target: Target;
  readonly moment: Moment;
  /**
   * The times from a restart of the agent to its next kill. A kill comes earlier if the agent gets
   * a link. Empty if the strike does not kill the agent.
   */
  readonly againAfterMs: readonly number[];
  /**
   * For runs that share an agent: the milliseconds from the `begin` of the first of these runs to
   * the assignment of this run. The first run ignores this value.
   */
  readonly assignedAfterMs: number;
}

/**
 * The employers of one agent. No two have the same ATS or host name. The agent finds each employer
 * by its host name.
 */
export const employers: readonly { readonly ats: Ats; readonly behaviour: Behaviour }[] = [
  { ats: 'greenhouse', behaviour: 'success' },
  { ats: 'lever', behaviour: 'cut' },
  { ats: 'ashby', behaviour: 'success' },
  { ats: 'workable', behaviour: 'double-submit' },
  { ats: 'generic', behaviour: 'double-submit' },
];

function planMoment({ nat }: Random): Moment {
  const kind = nat(10);
  if (kind < 4) return { kind: 'time', fraction: nat(1_100) / 1_000 };
  if (kind < 7) return { kind: 'submitting', delayMs: nat(40) };
  return { kind: 'receipt', delayMs: kind === 7 ? 0 : nat(40) };
}

/** Plans a run. The same `seed` and `run` always give the same plan. */
export function planRun(seed: number, run: number): RunPlan {
  const random = createRandom(seed * 1_000_003 + run);
  const { ats } = employers[random.nat(employers.length)] ?? { ats: 'generic' as const };
  // About one run in ten is undisturbed. Such runs show that a run can complete.
  const target = random.chance(0.1)
    ? 'none'
    : (targets[1 + random.nat(targets.length - 1)] ?? 'agent');
  const kills = target === 'agent' || target === 'both' ? random.nat(3) : 0;
  return {
    ats,
    target,
    moment: planMoment(random),
    againAfterMs: Array.from({ length: kills }, () => random.nat(900)),
    assignedAfterMs: random.nat(600),
  };
}
