import {
  type History,
  isEnding,
  latest,
  recordsOf,
  type Status,
  type StatusRecord,
  type Verdict,
} from './history.ts';

/**
 * Checks that the observed statuses of each submission fit one legal path (CONTRACT 5). The check
 * does not detect one illegal path: `settling`, then `cancelled`.
 */
export function checkSubmissions(history: History): Verdict {
  const seen = statusesOf(history);
  const cancels = Map.groupBy(recordsOf(history, 'cancel'), ({ submissionId }) => submissionId);
  const violations: string[] = [];
  for (const [id, own] of Map.groupBy(seen, ({ submissionId }) => submissionId)) {
    const askedMs = Math.min(...(cancels.get(id) ?? []).map(({ beginMs }) => beginMs));
    const found = [...reversals(own), ...endsThatDiffer(own), ...cancelledUnasked(own, askedMs)];
    violations.push(...found.map((what) => `submission ${id}: ${what}`));
  }
  return {
    guarantee:
      'no status goes back, no submission ends twice, and none is cancelled without a request',
    count: seen.length,
    violations,
  };
}

/** The observed statuses, including those in the answers to creations, cancels and rejects. */
function statusesOf(history: History): StatusRecord[] {
  return history.flatMap((record): StatusRecord[] => {
    if (record.kind === 'status') return [record];
    if (!('endMs' in record) || record.endMs === null) return [];
    const { endMs } = record;
    if (record.kind === 'create') {
      const { outcome } = record;
      // A gateway answers a creation with success only after a node has accepted. A creation
      // directly in the store has no such answer, and waits for no node.
      if (outcome.kind === 'created' && outcome.answer !== null)
        return [seenAs(outcome.submissionId, 'dispatched', null, 'reached', record, endMs)];
      if (outcome.kind === 'ended')
        return [seenAs(outcome.submissionId, 'cancelled', null, 'reached', record, endMs)];
    }
    if (record.kind === 'cancel' && record.outcome.kind !== 'unknown') {
      const { outcome, submissionId } = record;
      const status = outcome.kind === 'cancelled' ? 'cancelled' : outcome.status;
      return [seenAs(submissionId, status, outcome.chargedMicros, 'is', record, endMs)];
    }
    if (record.kind === 'reject' && record.outcome === 'rejected')
      return [seenAs(record.submissionId, 'rejected', null, 'is', record, endMs)];
    return [];
  });
}

function seenAs(
  submissionId: string,
  status: Status,
  chargedMicros: bigint | null,
  how: StatusRecord['how'],
  { kind, beginMs }: { kind: string; beginMs: number },
  endMs: number,
): StatusRecord {
  return {
    kind: 'status',
    submissionId,
    status,
    chargedMicros,
    source: kind,
    how,
    beginMs,
    endMs,
  };
}

/** The rank of a submission never falls. All ends have the highest rank. */
const ranks: Readonly<Record<Status, number>> = {
  pending: 0,
  dispatched: 1,
  running: 2,
  settling: 3,
  submitted: 4,
  failed: 4,
  cancelled: 4,
  rejected: 4,
};

function reversals(seen: readonly StatusRecord[]): string[] {
  const found: string[] = [];
  const byEnd = seen.toSorted((one, other) => one.endMs - other.endMs);
  let highest: StatusRecord | undefined;
  let next = 0;
  // A `reached` observation may show a status that the submission has already left. So the loop
  // checks only the rank of `is` observations.
  const now = seen.filter(({ how }) => how === 'is');
  for (const one of now.toSorted((a, b) => a.beginMs - b.beginMs)) {
    for (let before = byEnd[next]; before !== undefined; before = byEnd[next]) {
      if (before.endMs >= one.beginMs) break;
      next += 1;
      if (highest === undefined || ranks[before.status] > ranks[highest.status]) highest = before;
    }
    if (highest === undefined || ranks[one.status] >= ranks[highest.status]) continue;
    found.push(
      `${highest.source} saw ${highest.status} by ${time(highest.endMs)}, but ${one.source} saw ${one.status} from ${time(one.beginMs)} to ${time(one.endMs)}`,
    );
  }
  return found;
}

function inWords({ source, status, chargedMicros }: StatusRecord): string {
  return `${source} saw ${status} (charged micros: ${chargedMicros})`;
}

function endsThatDiffer(seen: readonly StatusRecord[]): string[] {
  const found: string[] = [];
  const [first, ...others] = seen.filter(({ status }) => isEnding(status));
  if (first === undefined) return found;
  let charged = first;
  for (const other of others) {
    const isSameCharge =
      other.chargedMicros === null ||
      charged.chargedMicros === null ||
      other.chargedMicros === charged.chargedMicros;
    if (other.status !== first.status || !isSameCharge)
      found.push(`${inWords(charged)}, but ${inWords(other)}`);
    if (charged.chargedMicros === null) charged = other;
  }
  const wasGiven = seen.find(({ status }) => !isEnding(status) && status !== 'pending');
  if (first.status === 'rejected' && wasGiven !== undefined)
    found.push(
      `${wasGiven.source} saw ${wasGiven.status}, but ${first.source} saw rejected, which follows only pending`,
    );
  return found;
}

function cancelledUnasked(seen: readonly StatusRecord[], askedMs: number): string[] {
  const early = seen.find(({ status, endMs }) => status === 'cancelled' && endMs < askedMs);
  return early === undefined
    ? []
    : [`${early.source} saw cancelled, although nobody had requested a cancel`];
}

function time(ms: number): string {
  return `${(ms / 1000).toFixed(3)} s`;
}

/**
 * The moments between which a submission can have ended. If no observation limits `earliestMs`, it
 * is 0. If no observation limits `latestMs`, it is Infinity.
 */
export interface EndingTimes {
  readonly earliestMs: number;
  readonly latestMs: number;
  /** The first ended status that the history shows. Undefined if no observer saw the end. */
  readonly status: Status | undefined;
}

/**
 * Maps the id of a submission to the moments between which the submission can have ended. If no
 * observation limits either moment, the submission is not in the map.
 */
export function endingTimes(history: History): Map<string, EndingTimes> {
  const times = new Map<string, EndingTimes>();
  const narrow = (id: string, seen: Partial<EndingTimes>): void => {
    const known = times.get(id);
    times.set(id, {
      earliestMs: Math.max(known?.earliestMs ?? 0, seen.earliestMs ?? 0),
      latestMs: Math.min(
        known?.latestMs ?? Number.POSITIVE_INFINITY,
        seen.latestMs ?? Number.POSITIVE_INFINITY,
      ),
      status: known?.status ?? seen.status,
    });
  };
  for (const { submissionId, status, how, beginMs, endMs, endedIt } of statusesOf(history)) {
    if (isEnding(status)) narrow(submissionId, { latestMs: endMs, status });
    if (endedIt === true) narrow(submissionId, { earliestMs: beginMs });
    else if (how === 'is' && !isEnding(status)) narrow(submissionId, { earliestMs: beginMs });
  }
  for (const record of history) {
    if (record.kind === 'cancel' && record.outcome.kind === 'cancelled')
      narrow(record.submissionId, { earliestMs: record.beginMs });
    if (record.kind === 'reject' && record.outcome === 'rejected')
      narrow(record.submissionId, { earliestMs: record.beginMs });
    if (record.kind === 'create') {
      const { outcome, beginMs } = record;
      if (outcome.kind === 'created' && !outcome.isReplay && latest(record) > beginMs)
        narrow(outcome.submissionId, { earliestMs: beginMs });
    }
  }
  return times;
}
