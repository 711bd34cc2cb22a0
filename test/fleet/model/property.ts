import * as fc from 'fast-check';
import { commands } from './commands.ts';
import type { Rig } from './rig.ts';
import { passVerdict } from './verdict.ts';
import { World } from './world.ts';

export interface PropertyOptions {
  readonly rig: Rig;
  readonly runs: number;
  readonly seed: number;
  /**
   * fast-check's path to one run, as `PropertyReport.fault` shows it. The check begins with that
   * run. If the run passes, further runs may follow.
   */
  readonly path?: string;
  /** True to shrink a counterexample, which takes time. By default, it is reported unchanged. */
  readonly shrinks?: boolean;
  readonly onRun?: (runs: number) => void;
}

export interface PropertyReport {
  readonly runs: number;
  readonly commands: number;
  readonly submissions: number;
  readonly executed: number;
  readonly seen: ReadonlyMap<string, number>;
  /** The violation and how to repeat it. Undefined if there is none. */
  readonly fault: string | undefined;
}

const commandsMax = 200;

/**
 * Drives the dispatcher's logic with random commands. An auditor checks the frames (CONTRACT 7). At
 * the end of each run, `passVerdict` checks rows and slots.
 */
export async function checkFleet(options: PropertyOptions): Promise<PropertyReport> {
  const { rig, runs, seed, path, onRun } = options;
  const count = { runs: 0, commands: 0, submissions: 0, executed: 0 };
  const seen = new Map<string, number>();
  const property = fc.asyncProperty(
    fc.commands(commands, { maxCommands: commandsMax, size: 'max' }),
    fc.integer({ min: 1, max: 6 }),
    fc.integer({ min: 1, max: 3 }),
    fc.boolean(),
    async (sequence, nodes, dispatchers, isHealed) => {
      const world = await World.open(rig, { nodes, dispatchers });
      try {
        await fc.asyncModelRun(() => ({ model: {}, real: world }), sequence);
        const violations = await passVerdict(world, { isHealed });
        if (violations.length > 0) throw new Error(violations.join('\n'));
      } finally {
        await world.close();
        count.runs += 1;
        count.commands += world.ran.length;
        count.submissions += world.posted.length;
        for (const { actedBy } of world.auditor.sightings.values())
          count.executed += actedBy.length;
        for (const name of world.ran) seen.set(name, (seen.get(name) ?? 0) + 1);
        onRun?.(count.runs);
      }
    },
  );
  const details = await fc.check(property, {
    numRuns: runs,
    seed,
    endOnFailure: options.shrinks !== true,
    ...(path === undefined ? {} : { path }),
  });
  if (!details.failed) return { ...count, seen, fault: undefined };
  const error = details.errorInstance instanceof Error ? details.errorInstance : undefined;
  const way = `--seed ${seed} --path ${details.counterexamplePath}`;
  const fault = `${error?.stack ?? 'failed'}\n${fc.stringify(details.counterexample)}\n${way}`;
  return { ...count, seen, fault };
}
