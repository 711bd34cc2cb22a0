import type { FrameFromNode } from '@svc/contracts';
import type { History, HistoryEntry } from './history.ts';
import type { JournalEntry } from './journal.ts';
import { failedOutcome } from './outcome.ts';

/** An entry that the service has not recorded is reported again after this. */
const reportAgainMs = 5_000;
const stopped = { code: 'node_error', message: 'The submission was stopped.' } as const;

interface RecoveryContext {
  readonly history: History;
  /** The phase of a submission in hand. Undefined for any other. */
  readonly phaseOf: (submissionId: string) => JournalEntry['phase'] | undefined;
  /** Sends every unanswered `start` and outcome of what is in hand. */
  readonly resume: () => void;
  readonly send: (frame: FrameFromNode) => void;
}

/** The node's part in a recovery from a backup (CONTRACT 7, "Recovery"). It lasts as long as a link. */
export interface Recovery {
  begin(): void;
  recorded(submissionId: string, present: boolean): void;
  acknowledged(submissionId: string): void;
  /**
   * True if the frame must wait, because the service has not recorded its submission. The service
   * would answer that it does not know it.
   */
  holds(frame: FrameFromNode): boolean;
  end(): void;
}

/** Reports the history of the node, then the outcomes in it, then that all is reported. */
export function createRecovery({ history, phaseOf, resume, send }: RecoveryContext): Recovery {
  /** Not recorded by the service. */
  const unrecorded = new Map<string, HistoryEntry>();
  /** Recorded, with an outcome that is not acknowledged. */
  const unacknowledged = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const report = (): void => {
    for (const { submissionId, receipt } of unrecorded.values()) {
      const begun = phaseOf(submissionId) !== 'assigned';
      send({ type: 'report', submissionId, receipt, begun });
    }
    timer = setTimeout(report, reportAgainMs);
  };
  const end = (): void => {
    clearTimeout(timer);
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
        send(entry.outcome ?? failedOutcome(submissionId, {}, stopped));
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
