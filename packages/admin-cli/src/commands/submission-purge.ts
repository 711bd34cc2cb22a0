import { assertNever, toWireId } from '@svc/domain';
import { purgeSubmission } from '@svc/store';
import type { Command } from 'commander';
import { idArgument } from '../arguments.ts';
import { addCommand, addYesOption, type CommandOptions } from '../command.ts';
import { confirm } from '../confirm.ts';
import { type Context, withContext } from '../context.ts';
import { printRecord } from '../output.ts';
import { Refusal } from '../refusal.ts';

export function addSubmissionPurgeCommand(submission: Command): void {
  const command = addCommand(submission, 'purge', {
    does: 'permanently delete the payload, result and failure message of a submission',
    examples: ['svc submission purge sub_01k9x2m4q7e8rjw5v6t3n0ybhc --yes'],
  });
  addYesOption(command)
    .argument('<submission>', 'its id, sub_…', idArgument('sub'))
    .action((id: string, options: CommandOptions) =>
      withContext((context) => purge(context, id, options)),
    );
}

async function purge({ store, by }: Context, id: string, options: CommandOptions): Promise<void> {
  const submissionId = toWireId('sub', id);
  await confirm(`Permanently delete the personal data of ${submissionId}?`, options);
  const outcome = await purgeSubmission(store, id, by);
  switch (outcome.kind) {
    case 'purged':
    case 'purged_before': {
      const { tenantId, state } = outcome.submission;
      const record = { submissionId, tenantId: toWireId('tnt', tenantId), status: state };
      const isRepeated = outcome.kind === 'purged_before';
      printRecord({ ...record, ...(isRepeated ? { idempotent: true } : {}) }, options);
      return;
    }
    case 'in_flight':
      throw new Refusal(
        `The submission is ${outcome.state}, so its personal data may still be needed. Cancel the submission, or wait until it ends.`,
      );
    case 'unknown_submission':
      throw new Refusal('There is no such submission. Run `svc submission list` to see the ids.');
    default:
      assertNever(outcome);
  }
}
