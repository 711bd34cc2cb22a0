import { toWireId, usageToNumbers, creditsToNumber } from '@svc/domain';
import { auditReading, readTrace, type SubmissionTrace } from '@svc/store';
import type { Command } from 'commander';
import { idArgument } from '../arguments.ts';
import { type CommandOptions, describeCommand } from '../command.ts';
import { type Context, withContext } from '../context.ts';
import { shortDuration } from '../durations.ts';
import { dim, print, printJson, printRecord, terminalWidth } from '../output.ts';
import { Refusal } from '../refusal.ts';
import { tableLines } from '../table.ts';
import { hasPersonalData, submissionRow } from './submission-output.ts';
import { type TimelineEntry, timelineOf } from './trace-timeline.ts';

/** `svc trace SUBMISSION` (CONTRACT 9): the timeline of a submission. */
export function addTraceCommand(command: Command): void {
  describeCommand(command, {
    does: 'show the timeline of a submission: quote, offers, run, money, events, deliveries',
    examples: ['svc trace sub_…', 'svc trace sub_… --json'],
  })
    .argument('<submission>', 'its id, sub_…', idArgument('sub'))
    .action((id: string, options: CommandOptions) =>
      withContext((context) => trace(context, id, options)),
    );
}

async function trace({ store, by }: Context, id: string, options: CommandOptions): Promise<void> {
  const found = await readTrace(store, id);
  if (found === null)
    throw new Refusal('There is no such submission. Run `svc submission list` to see the ids.');
  if (hasPersonalData(found.submission)) await auditReading(store, { submissionId: id }, by);
  const timeline = timelineOf(found);
  if (options.json === true) return printJson(traceRecord(found, timeline));
  const { submission, tenantName } = found;
  printRecord(
    {
      submission: toWireId('sub', submission.id),
      tenant: `${toWireId('tnt', submission.tenantId)} ${tenantName}`,
      job: `${submission.jobType}, ${submission.tier}`,
      state: submission.state,
      created: submission.createdAt,
      'idempotency key': submission.idempotencyKey,
      'request id': submission.requestId,
    },
    options,
  );
  print('');
  printTimeline(timeline);
}

/**
 * Terminals with at least this many columns show times with their date. On narrower ones, only the
 * record above the timeline shows a date, as `created`.
 */
const wholeTimesFrom = 120;

function printTimeline(timeline: readonly TimelineEntry[]): void {
  const width = terminalWidth();
  const isNarrow = width !== undefined && width < wholeTimesFrom;
  const rows = timeline.map(({ at, what, detail }, index) => {
    const before = timeline[index - 1]?.at ?? at;
    const sinceMs = at.getTime() - before.getTime();
    const time = at.toISOString();
    const shown = isNarrow ? time.slice(11, -1) : time;
    return [shown, sinceMs === 0 ? '' : `+${shortDuration(sinceMs)}`, what, detail];
  });
  const [head = '', ...lines] = tableLines(['time', 'after', 'what', 'detail'], rows, width);
  print(dim(head));
  for (const line of lines) print(line);
}

function traceRecord(found: SubmissionTrace, timeline: readonly TimelineEntry[]): object {
  const { submission, tenantName, nodeName, rateCardVersion, outcome, offers, entries } = found;
  return {
    submission: submissionRow(submission),
    tenantName,
    nodeName,
    rateCardVersion,
    dispatchDeadlineAt: found.dispatchDeadlineAt,
    leaseExpiresAt: found.leaseExpiresAt,
    runDeadlineAt: found.runDeadlineAt,
    requestId: submission.requestId,
    outcome,
    offers:
      offers?.map(({ nodeId, ...offer }) => ({ nodeId: toWireId('nod', nodeId), ...offer })) ??
      null,
    usageReports: found.usage.map(({ at, usage }) => ({ at, usage: usageToNumbers(usage) })),
    usageReportCount: found.usageCount,
    entries: entries.map(({ at, type, amountMicros, balanceAfterMicros }) => ({
      at,
      type,
      amount: creditsToNumber(amountMicros),
      balanceAfter: creditsToNumber(balanceAfterMicros),
    })),
    events: found.events.map(({ id, deliveries, ...event }) => ({
      id: toWireId('evt', id),
      ...event,
      deliveries: deliveries.map((delivery) => ({ ...delivery, id: toWireId('dlv', delivery.id) })),
    })),
    story: timeline,
  };
}
