import { creditsToNumber, toWireId, usageToNumbers } from '@svc/domain';
import type { SubmissionTrace, TracedDelivery, TracedEvent } from '@svc/store';

export interface TimelineEntry {
  readonly at: Date;
  readonly what: string;
  readonly detail: string;
}

/** Oldest entry first. */
export function timelineOf(trace: SubmissionTrace): TimelineEntry[] {
  const lines = [
    ...beginning(trace),
    ...offers(trace),
    ...running(trace),
    ...ending(trace),
    ...trace.events.flatMap(eventLines),
  ];
  // The sort is stable, so lines with the same time, such as those of one transaction, keep the
  // order above. In that order a cause comes before its effect.
  return lines.toSorted((a, b) => a.at.getTime() - b.at.getTime());
}

const credits = (micros: bigint): string => String(creditsToNumber(micros));

function beginning({ submission, rateCardVersion, entries }: SubmissionTrace): TimelineEntry[] {
  const { quote, createdAt: at } = submission;
  const { estimatedMicros, maxMicros, surgeMicros } = quote;
  const figures = [
    `estimated ${credits(estimatedMicros)}, max ${credits(maxMicros)}`,
    `surge ${credits(surgeMicros)}`,
    `rate card ${rateCardVersion}`,
  ];
  return [
    { at, what: 'quote', detail: figures.join(', ') },
    ...entries.filter(({ type }) => type === 'hold').map(entryLine),
  ];
}

function entryLine(entry: SubmissionTrace['entries'][number]): TimelineEntry {
  const { at, type, amountMicros, balanceAfterMicros } = entry;
  return {
    at,
    what: type.replace('_', ' '),
    detail: `${credits(amountMicros)} credits, balance after ${credits(balanceAfterMicros)}`,
  };
}

const answers = {
  accepted: 'accepted',
  declined: 'declined',
  expired: 'did not answer in time',
  disconnected:
    'did not get the submission: the link of the node ended, or a part of the service failed (the dispatcher of the node, the bus or the database)',
  revoked: 'did not get the submission: the offer was revoked',
} as const;

function offers({ submission, offers: records, nodeName }: SubmissionTrace): TimelineEntry[] {
  const answered = (records ?? []).flatMap((record): TimelineEntry[] => {
    const node = toWireId('nod', record.nodeId);
    const reason = record.reason === undefined ? '' : ` (${record.reason})`;
    return [
      { at: new Date(record.offeredAt), what: 'offer', detail: `to ${node}` },
      {
        at: new Date(record.answeredAt),
        what: record.answer,
        detail: `${node} ${answers[record.answer]}${reason}`,
      },
    ];
  });
  const { dispatchedAt, nodeId } = submission;
  if (dispatchedAt === null || nodeId === null) return answered;
  const name = nodeName === null ? '' : `, ${nodeName}`;
  const detail = `to ${toWireId('nod', nodeId)}${name}`;
  return [...answered, { at: dispatchedAt, what: 'assignment', detail }];
}

function running({
  submission,
  usage,
  usageCount,
  usageCapped,
  outcome,
}: SubmissionTrace): TimelineEntry[] {
  const { startedAt } = submission;
  const begin =
    startedAt === null ? [] : [{ at: startedAt, what: 'begin', detail: 'the node may act' }];
  const left = usageCount - usage.length;
  const reports = usage.map(({ at, usage: reported }) => ({
    at,
    what: 'usage',
    detail: Object.entries(usageToNumbers(reported))
      .map(([unit, amount]) => `${unit} ${amount}`)
      .join(', '),
  }));
  if (left > 0) {
    const middle = Math.floor(reports.length / 2);
    const at = reports[middle - 1]?.at ?? new Date(0);
    reports.splice(middle, 0, { at, what: 'usage', detail: `… ${left} more reports` });
  }
  const at = outcome?.at ?? usage.at(-1)?.at ?? startedAt;
  const detail =
    'the node reported more usage than the elapsed time allows; the service cut it to the cap';
  const capped = usageCapped && at !== null ? [{ at, what: 'usage capped', detail }] : [];
  return [...begin, ...reports, ...capped];
}

function ending(trace: SubmissionTrace): TimelineEntry[] {
  const { submission, outcome, entries } = trace;
  const { finishedAt, lateOutcome, failure, cancelledBy } = submission;
  const lines: TimelineEntry[] = [];
  if (outcome !== null) {
    const why = failure === null ? '' : `: ${failure.code} ${failure.message}`.trimEnd();
    const who = outcome.by === 'node' ? 'reported by its node' : 'decided by the service';
    lines.push({ at: outcome.at, what: 'outcome', detail: `${outcome.kind}, ${who}${why}` });
  }
  lines.push(...entries.filter(({ type }) => type !== 'hold').map(entryLine));
  if (finishedAt !== null) {
    const by = cancelledBy === null ? '' : ` by ${cancelledBy}`;
    lines.push({ at: finishedAt, what: 'ended', detail: `${submission.state}${by}` });
  }
  if (lateOutcome !== null) {
    const detail = `its node reported ${lateOutcome.status} after the end`;
    lines.push({ at: lateOutcome.at, what: 'late outcome', detail });
  }
  return lines;
}

function eventLines({ id, type, at, deliveries }: TracedEvent): TimelineEntry[] {
  const event = { at, what: 'event', detail: `${type} ${toWireId('evt', id)}` };
  if (deliveries.length === 0)
    return [{ ...event, detail: `${event.detail}, not sent: no webhook URL or endpoint took it` }];
  return [event, ...deliveries.flatMap(deliveryLines)];
}

function deliveryLines(delivery: TracedDelivery): TimelineEntry[] {
  const { id, status, attempts, createdAt, nextAttemptAt, finishedAt } = delivery;
  const name = toWireId('dlv', id);
  const lines: TimelineEntry[] = [{ at: createdAt, what: 'delivery', detail: name }];
  for (const { round, number, at, statusCode, durationMs, error } of attempts) {
    const answer = statusCode === null ? (error ?? 'no answer recorded') : `answered ${statusCode}`;
    const took = durationMs === null ? '' : ` in ${durationMs} ms`;
    const again = round === 1 ? '' : `, round ${round}`;
    lines.push({ at, what: 'attempt', detail: `${number}${again}: ${answer}${took}` });
  }
  if (finishedAt !== null) lines.push({ at: finishedAt, what: status, detail: name });
  else if (nextAttemptAt !== null) {
    lines.push({
      at: nextAttemptAt,
      what: 'next attempt',
      detail: `due for ${name}, which is ${status}`,
    });
  }
  return lines;
}
