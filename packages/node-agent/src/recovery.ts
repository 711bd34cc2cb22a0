import type { FrameFromNode } from '@svc/contracts';
import type { History, HistoryEntry } from './history.ts';
import type { JournalEntry } from './journal.ts';
import { failedOutcome } from './outcome.ts';

/** The interval at which the node reports again the entries that the service has not recorded. */
const reportAgainMs = 5_000;
const stopped = { code: 'node_error', message: 'The submission was stopped.' } as const;

interface RecoveryContext {
  readonly history: History;
  /**
   * The phase of a submission in `NodeRuns`. Undefined for a submission that is only in the
   * history.
   */
  readonly phaseOf: (submissionId: string) => JournalEntry['phase'] | undefined;
  /** Sends every `start` and outcome in `NodeRuns` that has no answer. */
  readonly resume: () => void;
  readonly send: (frame: FrameFromNode) => void;
}

/**
 * The node's part in a recovery from a backup (CONTRACT 7, "Recovery"). The node's part ends with
 * the link.
 */
export interface Recovery {
  begin(): void;
  /** Takes the answer to a `report`. If `present` is false, the node reports the entry again. */
  recorded(submissionId: string, present: boolean): void;
  acknowledged(submissionId: string): void;
  /**
   * True if the frame must not be sent yet: the service has not recorded the submission of the
   * frame, and would refuse it as unknown.
   */
  holds(frame: FrameFromNode): boolean;
  end(): void;
}

/**
 * Sends a `report` for each entry of the history. When the service has recorded an entry, sends its
 * outcome. If the submission is in `NodeRuns`, `resume` sends its `start` or outcome instead. Sends
 * `reported` when every entry is recorded and each outcome that was sent here is acknowledged.
 */
export function createRecovery({ history, phaseOf, resume, send }: RecoveryContext): Recovery {
  /** The entries that the service has not recorded. */
  const unrecorded = new Map<string, HistoryEntry>();
  /**
   * The recorded submissions whose outcome this object has sent and the service has not
   * acknowledged.
   */
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
