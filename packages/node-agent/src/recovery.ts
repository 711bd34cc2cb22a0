import type { FrameFromNode } from '@svc/contracts';
import type { History, HistoryEntry } from './history.ts';
import type { JournalEntry } from './journal.ts';
import { failedOutcome } from './outcome.ts';

/** The interval at which the node repeats each `report` that the service has not recorded yet. */
const reportAgainMs = 5_000;
/**
 * The node sends at most 15 reports every 100 ms. A link allows this (CONTRACT 7), even if a large
 * outcome follows each report.
 */
const reportsAtOnce = 15;
const reportPauseMs = 100;
const unfinished = {
  code: 'node_error',
  message: 'The node did not finish the submission.',
} as const;

interface RecoveryContext {
  readonly history: History;
  /** Undefined for a submission that is only in the history. */
  readonly phaseOf: (submissionId: string) => JournalEntry['phase'] | undefined;
  /**
   * Makes `NodeRuns` send each `start` and outcome that the service has not answered, except frames
   * that must wait (`Recovery.holds`).
   */
  readonly resume: () => void;
  readonly send: (frame: FrameFromNode) => void;
}

/**
 * The node's part in a recovery from a backup (CONTRACT 7, "Recovery"). This part ends when the
 * link ends.
 */
export interface Recovery {
  /** Call it on each link on which the service recovers. It reports the whole history each time. */
  begin(): void;
  /**
   * Takes the answer to a `report`. `present` is true if the service has recorded the submission.
   * Until then, the node repeats the `report` every `reportAgainMs`.
   */
  recorded(submissionId: string, present: boolean): void;
  acknowledged(submissionId: string): void;
  /**
   * True if the frame must not be sent yet, because the service has not recorded the submission of
   * the frame.
   */
  holds(frame: FrameFromNode): boolean;
  end(): void;
}

/**
 * Repeats the `report` of each history entry until the service has recorded the entry. Sends
 * `reported` when all entries are recorded and `unacknowledged` is empty.
 */
export function createRecovery({ history, phaseOf, resume, send }: RecoveryContext): Recovery {
  const unrecorded = new Map<string, HistoryEntry>();
  /**
   * The submissions whose outcomes this recovery has sent and the service has not acknowledged yet.
   */
  const unacknowledged = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  /** The entries to report before the next repetition (`reportAgainMs`). */
  let rest: HistoryEntry[] = [];
  let beganMs = Number.NEGATIVE_INFINITY;
  const report = (): void => {
    if (rest.length === 0 && performance.now() - beganMs >= reportAgainMs) {
      rest = [...unrecorded.values()];
      beganMs = performance.now();
    }
    for (const { submissionId, receipt } of rest.splice(0, reportsAtOnce)) {
      if (!unrecorded.has(submissionId)) continue;
      const begun = phaseOf(submissionId) !== 'assigned';
      send({ type: 'report', submissionId, receipt, begun });
    }
    timer = setTimeout(report, reportPauseMs);
  };
  const end = (): void => {
    clearTimeout(timer);
    rest = [];
    beganMs = Number.NEGATIVE_INFINITY;
    unrecorded.clear();
    unacknowledged.clear();
  };
  const reportEnd = (): void => {
    if (unrecorded.size + unacknowledged.size > 0) return;
    clearTimeout(timer);
    send({ type: 'reported' });
  };
  return {
    begin() {
      end();
      for (const entry of history.entries()) unrecorded.set(entry.submissionId, entry);
      report();
      reportEnd();
    },
    recorded(submissionId, present) {
      const entry = unrecorded.get(submissionId);
      if (entry === undefined || !present) return;
      unrecorded.delete(submissionId);
      if (phaseOf(submissionId) === undefined) {
        unacknowledged.add(submissionId);
        send(entry.outcome ?? failedOutcome(submissionId, {}, unfinished));
      } else resume();
      reportEnd();
    },
    acknowledged(submissionId) {
      if (unacknowledged.delete(submissionId)) reportEnd();
    },
    holds: (frame) => 'submissionId' in frame && unrecorded.has(frame.submissionId),
    end,
  };
}
