import type { FrameFromNode, FrameToNodeOf } from '@svc/contracts';
import { foreignFramesWindowMs } from '@svc/domain';
import type { History } from './history.ts';
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
/**
 * The most reports without an answer, together with those that the service refused in the last
 * minute. A link that sends more than 100 unreadable reports in a minute is closed.
 */
const doubtfulReportsMax = 90;
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
  recorded(answer: FrameToNodeOf<'recorded'>): void;
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
 * `reported` when all entries are recorded or refused, and `unacknowledged` is empty.
 */
export function createRecovery({ history, phaseOf, resume, send }: RecoveryContext): Recovery {
  const unrecorded = new Set<string>();
  /** Those of `unrecorded` that the service refuses. The node waits for none of them. */
  const refused = new Set<string>();
  /**
   * The submissions whose outcomes this recovery has sent and the service has not acknowledged yet.
   */
  const unacknowledged = new Set<string>();
  const pace = createPace();
  let timer: NodeJS.Timeout | undefined;
  /** The submissions to report before the next repetition (`reportAgainMs`). */
  let rest: string[] = [];
  let beganMs = Number.NEGATIVE_INFINITY;
  const report = (): void => {
    const nowMs = performance.now();
    if (rest.length === 0 && nowMs - beganMs >= reportAgainMs) {
      rest = toReport();
      beganMs = nowMs;
    }
    for (const submissionId of rest.splice(0, Math.min(reportsAtOnce, pace.allowed(nowMs)))) {
      const receipt = history.entry(submissionId)?.receipt;
      if (!unrecorded.has(submissionId) || receipt === undefined) continue;
      const begun = phaseOf(submissionId) !== 'assigned';
      pace.sent(submissionId, nowMs);
      send({ type: 'report', submissionId, receipt, begun });
    }
    timer = setTimeout(report, reportPauseMs);
  };
  /**
   * The newest entries come first, because the newest key opens their receipts. Refused entries are
   * repeated only if they are in hand, to notice the end of the recovery.
   */
  const toReport = (): string[] => {
    const ids = [...unrecorded].toReversed();
    return [
      ...ids.filter((id) => !refused.has(id)),
      ...ids.filter((id) => refused.has(id) && phaseOf(id) !== undefined),
    ];
  };
  const end = (): void => {
    clearTimeout(timer);
    rest = [];
    beganMs = Number.NEGATIVE_INFINITY;
    for (const ids of [unrecorded, refused, unacknowledged]) ids.clear();
    pace.reset();
  };
  let isReported = false;
  const reportEnd = (): void => {
    if (isReported || unrecorded.size > refused.size || unacknowledged.size > 0) return;
    isReported = true;
    if (unrecorded.size === 0) clearTimeout(timer);
    send({ type: 'reported' });
  };
  return {
    begin() {
      end();
      isReported = false;
      for (const { submissionId } of history.entries()) unrecorded.add(submissionId);
      report();
      reportEnd();
    },
    recorded({ submissionId, present, refused: isRefused = false }) {
      pace.answered(submissionId, isRefused);
      if (!unrecorded.has(submissionId)) return;
      if (present) {
        unrecorded.delete(submissionId);
        refused.delete(submissionId);
        const phase = phaseOf(submissionId);
        if (phase === undefined || phase === 'ended') unacknowledged.add(submissionId);
        // The history is read now, because an outcome may have come into it since `begin`.
        if (phase === undefined) {
          const outcome = history.entry(submissionId)?.outcome;
          send(outcome ?? failedOutcome(submissionId, {}, unfinished));
        } else resume();
      } else if (isRefused) refused.add(submissionId);
      reportEnd();
    },
    acknowledged(submissionId) {
      if (unacknowledged.delete(submissionId)) reportEnd();
    },
    holds: (frame) => 'submissionId' in frame && unrecorded.has(frame.submissionId),
    end,
  };
}

/** Limits reports so that a history full of unreadable receipts does not close the link. */
function createPace() {
  const sentAtMs = new Map<string, number>();
  let refusedAtMs: number[] = [];
  return {
    allowed(nowMs: number): number {
      for (const [id, atMs] of sentAtMs) if (atMs < nowMs - reportAgainMs) sentAtMs.delete(id);
      refusedAtMs = refusedAtMs.filter((atMs) => atMs >= nowMs - foreignFramesWindowMs);
      return Math.max(0, doubtfulReportsMax - sentAtMs.size - refusedAtMs.length);
    },
    sent: (submissionId: string, nowMs: number) => void sentAtMs.set(submissionId, nowMs),
    answered(submissionId: string, isRefused: boolean): void {
      sentAtMs.delete(submissionId);
      if (isRefused) refusedAtMs.push(performance.now());
    },
    reset(): void {
      sentAtMs.clear();
      refusedAtMs = [];
    },
  };
}
