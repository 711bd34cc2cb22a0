import { assertNever, toWireId } from '@svc/domain';
import { purgeSubmission } from '@svc/store';
import type { Command } from 'commander';
import { idArgument } from '../arguments.ts';
import { addCommand, addYesOption, type CommandOptions } from '../command.ts';
import { confirm } from '../confirm.ts';
import { type Context, withContext } from '../context.ts';
import { printRecord } from '../output.ts';
import { Refusal } from '../refusal.ts';

/** `svc submission purge`: personal data is deleted before its time, for whoever asks for it. */
export function addSubmissionPurgeCommand(submission: Command): void {
  const command = addCommand(submission, 'purge', {
    does: 'delete its payload, its result and what its node said, now and for good',
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
  await confirm(`Delete the personal data of ${submissionId} for good?`, options);
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
        `It is ${outcome.state}: its node may need the payload. Cancel it first, or wait for its end.`,
      );
    case 'unknown_submission':
      throw new Refusal('There is no such submission.');
    default:
      assertNever(outcome);
  }
}
