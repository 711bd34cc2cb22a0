import type { Fault } from '../faults/catalogue/fault.ts';
import { describeFault, type FaultsReport } from '../faults/report.ts';
import { runFaults } from '../faults/run.ts';
import { longPace, size } from '../faults/sizes.ts';
import type { Servers } from '../faults/world/types.ts';
import type { History } from '../history/history.ts';

export interface Cluster {
  readonly name: string;
  readonly servers: Servers;
  /** Kills the server that takes the writes. Resolves when another server is promoted. */
  failOver(): Promise<void>;
  restore(): Promise<void>;
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
  readonly report: FaultsReport;
}

/** The pause between the promotion of a server and `restore`. The load continues meanwhile. */
const lastsMs = 6_000;
/** If one of `recoveriesMs` is longer than this, the run counts as broken. */
export const recoveryMsMax = 10_000;

export async function runTrial(cluster: Cluster, options: TrialOptions): Promise<TrialReport> {
  const { seed, perSecond, times, say } = options;
  const promotedMs: number[] = [];
  let history: History = [];
  const fault: Fault = {
    kind: cluster.name,
    name: cluster.name,
    lastsMs,
    async strike({ recorder }) {
      await cluster.failOver();
      promotedMs.push(recorder.nowMs());
    },
    heal: () => cluster.restore(),
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
    nextCreationMs(history, promotedMs[index]),
  );
  return { name: cluster.name, recoveriesMs, report };
}

/**
 * The milliseconds from `promotedMs` until a request that began afterwards is answered with a new
 * submission. Undefined without `promotedMs` or without such an answer.
 */
export function nextCreationMs(
  history: History,
  promotedMs: number | undefined,
): number | undefined {
  if (promotedMs === undefined) return undefined;
  const ends = history.flatMap((one) =>
    one.kind === 'create' &&
    one.endMs !== null &&
    one.beginMs >= promotedMs &&
    one.outcome.kind === 'created' &&
    !one.outcome.isReplay
      ? [one.endMs]
      : [],
  );
  return ends.length === 0 ? undefined : Math.min(...ends) - promotedMs;
}
