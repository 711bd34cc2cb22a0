import { assertNever, creditsToNumber, type SubmissionState, toWireId } from '@svc/domain';
import {
  auditReading,
  cancelAsOperator,
  findAnySubmission,
  listEverySubmission,
  type OperatorSubmission,
  type Store,
} from '@svc/store';
import { type Command, Option } from 'commander';
import {
  type AskedTime,
  idArgument,
  limitArgument,
  listLimitDefault,
  timeArgument,
  timeOf,
} from '../arguments.ts';
import { addCommand, addYesOption, type CommandOptions } from '../command.ts';
import { confirm } from '../confirm.ts';
import { type Context, withContext } from '../context.ts';
import { printList, printRecord } from '../output.ts';
import { notifyServices } from '../redis.ts';
import { Refusal } from '../refusal.ts';
import { hasPersonalData, submissionRow } from './submission-output.ts';
import { addSubmissionPurgeCommand } from './submission-purge.ts';

interface ListOptions extends CommandOptions {
  tenant?: string;
  status?: string;
  since?: AskedTime;
  before?: string;
  limit?: number;
}

/** The internal states of each status on the wire. Only operators see `rejected`. */
const statesOf: Readonly<Record<string, readonly SubmissionState[]>> = {
  pending: ['pending'],
  dispatched: ['dispatched'],
  running: ['running', 'settling'],
  submitted: ['submitted'],
  failed: ['failed'],
  cancelled: ['cancelled'],
  rejected: ['rejected'],
};

/** `svc submission …` (CONTRACT 9). */
export function addSubmissionCommands(submission: Command): void {
  addCommand(submission, 'list', {
    does: 'list the newest submissions of all tenants or of one',
    examples: [
      'svc submission list --status running',
      'svc submission list --tenant tnt_… --since 24h',
    ],
  })
    .option('--tenant <tenant>', 'only submissions of this tenant, tnt_…', idArgument('tnt'))
    .addOption(
      new Option('--status <status>', 'only submissions in this status').choices(
        Object.keys(statesOf),
      ),
    )
    .option(
      '--since <time>',
      'only submissions created since this time or date; 24h means 24 hours ago',
      timeArgument,
    )
    .option(
      '--before <submission>',
      'only submissions older than this one, sub_…',
      idArgument('sub'),
    )
    .option(
      '--limit <count>',
      `the most submissions to list (default: ${listLimitDefault})`,
      limitArgument,
    )
    .action((options: ListOptions) => withContext((context) => list(context, options)));
  addCommand(submission, 'show', {
    does: 'show one submission; `svc trace` shows its timeline',
    examples: ['svc submission show sub_…'],
  })
    .argument('<submission>', 'its id, sub_…', idArgument('sub'))
    .action((id: string, options: CommandOptions) =>
      withContext((context) => show(context, id, options)),
    );
  const cancelling = addCommand(submission, 'cancel', {
    does: 'cancel a submission with a full refund, and order its node to stop',
    examples: ['svc submission cancel sub_…', 'svc submission cancel sub_… --yes'],
  });
  addYesOption(cancelling)
    .argument('<submission>', 'its id, sub_…', idArgument('sub'))
    .action((id: string, options: CommandOptions) =>
      withContext((context) => cancel(context, id, options)),
    );
  addSubmissionPurgeCommand(submission);
}

async function list({ store, by }: Context, options: ListOptions): Promise<void> {
  const { tenant, status, since, before, limit } = options;
  const submissions = await listEverySubmission(store, {
    tenantId: tenant ?? null,
    states: status === undefined ? null : (statesOf[status] ?? null),
    createdAfter: since === undefined ? null : await timeOf(store, since),
    before: before === undefined ? null : await existing(store, before),
    limit: limit ?? listLimitDefault,
  });
  // With `--json`, the list shows results and failure messages. These may contain personal data, so
  // reading them is audited. A table shows neither.
  const count = submissions.filter(hasPersonalData).length;
  if (options.json === true && count > 0)
    await auditReading(store, { list: 'submissions', count }, by);
  const columns = ['id', 'status', 'tier', 'actualCredits', 'createdAt', 'finishedAt', 'tenantId'];
  printList(submissions.map(submissionRow), columns, options);
}

async function show({ store, by }: Context, id: string, options: CommandOptions): Promise<void> {
  const submission = await existing(store, id);
  if (hasPersonalData(submission)) await auditReading(store, { submissionId: id }, by);
  printRecord(submissionRow(submission), options);
}

async function cancel(context: Context, id: string, options: CommandOptions): Promise<void> {
  const submissionId = toWireId('sub', id);
  await confirm(`Cancel ${submissionId} with a full refund?`, options);
  const outcome = await cancelAsOperator(context.store, id, context.by);
  const submission = await findAnySubmission(context.store, id);
  if (outcome.kind === 'not_found' || submission === null) throw noSuchSubmission();
  const isNotified = await notify(context, submission);
  switch (outcome.kind) {
    case 'terminal':
      throw new Refusal(
        `The submission has ended: it is ${outcome.state}. This command did not cancel it.`,
      );
    case 'cancelled':
      if (!isNotified) {
        process.stderr.write(
          'The submission is cancelled, but the services were not notified, because Redis cannot be used. A node that has it stops it a little later, and the webhook is sent a little later.\n',
        );
      }
      return printRecord(
        {
          submissionId,
          status: 'cancelled',
          refund: {
            amount: creditsToNumber(outcome.refundedMicros),
            charged: creditsToNumber(outcome.chargedMicros),
          },
        },
        options,
      );
    default:
      assertNever(outcome);
  }
}

/**
 * Notifies the dispatchers and the webhooks service that this submission has ended. Returns false
 * if Redis cannot be used.
 */
async function notify(context: Context, { id, tenantId }: OperatorSubmission): Promise<boolean> {
  return notifyServices(context, async ({ redis, prefix, producer, queue }) => {
    await queue.publishCancelled(redis, prefix, id);
    await queue.announceDeliveries(producer, [tenantId]);
  });
}

async function existing(store: Store, id: string): Promise<OperatorSubmission> {
  const submission = await findAnySubmission(store, id);
  if (submission === null) throw noSuchSubmission();
  return submission;
}

function noSuchSubmission(): Refusal {
  return new Refusal('There is no such submission. Run `svc submission list` to see the ids.');
}
