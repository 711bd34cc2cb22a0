import { type History, latest, type LineRecord, type Timed } from './history.ts';
import { endingTimes } from './submissions.ts';

/**
 * The moments between which a row of the ledger was written. Without an observation that limits
 * them, `earliestMs` is 0 and `latestMs` is Infinity.
 */
export interface LineTimes {
  readonly earliestMs: number;
  readonly latestMs: number;
}

const anyTime: LineTimes = { earliestMs: 0, latestMs: Number.POSITIVE_INFINITY };

/**
 * Returns a function that finds the `LineTimes` of a row, from the observations of the row and of
 * its submission or grant.
 */
export function lineTimes(history: History): (line: LineRecord) => LineTimes {
  const holds = holdTimes(history);
  const grants = grantTimes(history);
  const shown = shownBy(history);
  const endings = endingTimes(history);
  const own = (line: LineRecord): LineTimes => {
    const { submissionId, reference, type } = line;
    if (submissionId === null) return grants.get(reference ?? '') ?? anyTime;
    const hold = holds.get(submissionId) ?? anyTime;
    const ending = endings.get(submissionId);
    if (type === 'hold')
      return { ...hold, latestMs: Math.min(hold.latestMs, ending?.latestMs ?? hold.latestMs) };
    return {
      earliestMs: Math.max(hold.earliestMs, ending?.earliestMs ?? 0),
      latestMs: ending?.latestMs ?? Number.POSITIVE_INFINITY,
    };
  };
  return (line) => {
    const { earliestMs, latestMs } = own(line);
    return { earliestMs, latestMs: Math.min(latestMs, shown.get(line.id) ?? latestMs) };
  };
}

function within(times: Map<string, LineTimes>, id: string, seen: LineTimes): void {
  const known = times.get(id) ?? anyTime;
  times.set(id, {
    earliestMs: Math.max(known.earliestMs, seen.earliestMs),
    latestMs: Math.min(known.latestMs, seen.latestMs),
  });
}

function holdTimes(history: History): Map<string, LineTimes> {
  const times = new Map<string, LineTimes>();
  const askedMs = new Map<string, number>();
  for (const record of history) {
    if (record.kind !== 'create') continue;
    const name = `${record.tenant} ${record.key}`;
    askedMs.set(name, Math.min(askedMs.get(name) ?? record.beginMs, record.beginMs));
  }
  for (const record of history) {
    if (record.kind !== 'create' || record.outcome.kind !== 'created') continue;
    const { submissionId, isReplay } = record.outcome;
    const asked = askedMs.get(`${record.tenant} ${record.key}`) ?? 0;
    within(times, submissionId, {
      earliestMs: isReplay ? asked : record.beginMs,
      latestMs: latest(record),
    });
  }
  return times;
}

function grantTimes(history: History): Map<string, LineTimes> {
  const times = new Map<string, LineTimes>();
  const requests = history.filter((record) => record.kind === 'grant');
  for (const [reference, own] of Map.groupBy(requests, (one) => one.reference)) {
    const answered = own.filter(({ outcome }) => outcome.kind === 'granted');
    times.set(reference, {
      earliestMs: Math.min(...own.map(({ beginMs }: Timed) => beginMs)),
      latestMs: Math.min(...answered.map(latest)),
    });
    for (const { outcome, ...request } of answered) {
      if (outcome.kind === 'granted' && !outcome.isReplay)
        within(times, reference, { earliestMs: request.beginMs, latestMs: latest(request) });
    }
  }
  return times;
}

function shownBy(history: History): Map<string, number> {
  const shown = new Map<string, number>();
  for (const record of history) {
    if (record.kind !== 'statement') continue;
    shown.set(record.id, Math.min(shown.get(record.id) ?? record.endMs, record.endMs));
  }
  return shown;
}
