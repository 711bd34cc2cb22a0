import type { Fault } from '../faults/catalogue/fault.ts';
import { describeFault, type FaultsReport } from '../faults/report.ts';
import { runFaults } from '../faults/run.ts';
import { longPace, size } from '../faults/sizes.ts';
import type { Servers, World } from '../faults/world/types.ts';
import type { History } from '../history/history.ts';

export interface Cluster {
  readonly name: string;
  readonly servers: Servers;
  /** How long the fault lasts, from the end of `failOver` to `restore`. Default `lastsMs`. */
  readonly lastsMs?: number;
  /** The longest time to the next creation; default `recoveryMsMax`. */
  readonly recoveryMsMax?: number;
  /** The call after whose end creations must succeed again. Default `failOver`. */
  readonly recoversAfter?: 'failOver' | 'restore';
  /** Kills the server that takes the writes. Resolves when another server is promoted. */
  failOver(world: World): Promise<void>;
  restore(world: World): Promise<void>;
}

export interface TrialOptions {
  readonly seed: number;
  readonly perSecond: number;
  readonly times: number;
  readonly say: (line: string) => void;
}

export interface TrialReport {
  readonly name: string;
  /** The results of `nextCreationMs`, one for each failover. */
  readonly recoveriesMs: readonly (number | undefined)[];
  readonly recoveryMsMax: number;
  readonly report: FaultsReport;
}

/** The pause between `failOver` and `restore`. The load continues meanwhile. */
const lastsMs = 6_000;
/** If one of `recoveriesMs` is longer than this, the run counts as broken. */
const recoveryMsMax = 10_000;

export async function runTrial(cluster: Cluster, options: TrialOptions): Promise<TrialReport> {
  const { seed, perSecond, times, say } = options;
  const { recoversAfter = 'failOver' } = cluster;
  const recoversFromMs: number[] = [];
  let history: History = [];
  const fault: Fault = {
    kind: cluster.name,
    name: cluster.name,
    lastsMs: cluster.lastsMs ?? lastsMs,
    async strike(world) {
      await cluster.failOver(world);
      if (recoversAfter === 'failOver') recoversFromMs.push(world.recorder.nowMs());
    },
    async heal(world) {
      await cluster.restore(world);
      if (recoversAfter === 'restore') recoversFromMs.push(world.recorder.nowMs());
    },
  };
  const report = await runFaults({
    faults: times,
    schedule: Array.from({ length: times }, () => fault),
    seed,
    minutes: 0,
    perSecond,
    size,
    pace: longPace,
    movesClock: true,
    servers: cluster.servers,
    onFault: (struck) => say(describeFault(struck)),
    say,
    onHistory: (recorded) => {
      history = recorded;
      return Promise.resolve();
    },
  });
  const recoveriesMs = Array.from({ length: times }, (_, index) =>
    nextCreationMs(history, recoversFromMs[index]),
  );
  return {
    name: cluster.name,
    recoveriesMs,
    recoveryMsMax: cluster.recoveryMsMax ?? recoveryMsMax,
    report,
  };
}

/**
 * The milliseconds from `fromMs` until a request that began afterwards is answered with a new
 * submission. Undefined without `fromMs` or without such an answer.
 */
export function nextCreationMs(history: History, fromMs: number | undefined): number | undefined {
  if (fromMs === undefined) return undefined;
  const ends = history.flatMap((one) =>
    one.kind === 'create' &&
    one.endMs !== null &&
    one.beginMs >= fromMs &&
    one.outcome.kind === 'created' &&
    !one.outcome.isReplay
      ? [one.endMs]
      : [],
  );
  return ends.length === 0 ? undefined : Math.min(...ends) - fromMs;
}
