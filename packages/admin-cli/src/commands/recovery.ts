import { toWireId } from '@svc/domain';
import { beginRecovery, endRecovery, readRecovery, type RecoveryStatus } from '@svc/store';
import type { Command } from 'commander';
import { addCommand, addYesOption, type CommandOptions } from '../command.ts';
import { confirm } from '../confirm.ts';
import { type Context, withContext } from '../context.ts';
import { printRecord, type Row } from '../output.ts';
import { Refusal } from '../refusal.ts';

interface EndOptions extends CommandOptions {
  readonly force?: boolean;
}

/** `svc recovery …` (CONTRACT 9): the commands for the recovery after a restore from a backup. */
export function addRecoveryCommands(group: Command): void {
  addCommand(group, 'begin', {
    does: 'refuse new submissions after a restore, until an operator ends the recovery; meanwhile nodes report their histories',
    examples: ['svc recovery begin'],
  }).action((options: CommandOptions) => withContext((context) => begin(context, options)));
  addCommand(group, 'status', {
    does: 'show which nodes have not reported or sent receipts that cannot be read, and which reported submissions wait for a decision',
    examples: ['svc recovery status'],
  }).action((options: CommandOptions) => withContext((context) => status(context, options)));
  addYesOption(
    addCommand(group, 'end', {
      does: 'end the recovery: allow new submissions, and let deadlines apply again to submissions in flight',
      examples: ['svc recovery end', 'svc recovery end --force'],
    }).option(
      '--force',
      'end the recovery even if a node has not reported, a receipt cannot be read, or a reported submission waits for a decision',
    ),
  ).action((options: EndOptions) => withContext((context) => end(context, options)));
}

async function begin({ store, by }: Context, options: CommandOptions): Promise<void> {
  const outcome = await beginRecovery(store, by);
  if (outcome.kind === 'in_force')
    throw new Refusal('A recovery is in force already. See `svc recovery status`.');
  await status({ store }, options);
}

async function status({ store }: Pick<Context, 'store'>, options: CommandOptions): Promise<void> {
  const found = await readRecovery(store);
  printRecord(found === null ? { inForce: false } : rowOf(found), options);
}

async function end({ store, by }: Context, options: EndOptions): Promise<void> {
  const force = options.force === true;
  if (force) {
    await confirm(
      'If a node has done a submission that the database does not have, the tenant could repeat the submission. The job would then be done twice. End the recovery?',
      options,
    );
  }
  const outcome = await endRecovery(store, { force }, by);
  switch (outcome.kind) {
    case 'ended':
      return status({ store }, options);
    case 'none_in_force':
      throw new Refusal('No recovery is in force.');
    case 'incomplete': {
      const { missingNodes, unreadable, openCount } = outcome.status;
      throw new Refusal(
        `The recovery is still in force. Nodes that have not reported: ${missingNodes.length}. Nodes whose receipts cannot be read: ${unreadable.length}. Reported submissions that wait for a decision: ${openCount}. See \`svc recovery status\`. \`svc recovery end --force\` ends the recovery anyway.`,
      );
    }
  }
}

function rowOf(found: RecoveryStatus): Row {
  const { incarnation, beganAt, endedAt, inFlight, missingNodes, unreadable, findings, open } =
    found;
  return {
    inForce: endedAt === null,
    incarnation,
    beganAt: beganAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
    inFlight,
    missingNodes: missingNodes.map((id) => toWireId('nod', id)),
    unreadable: unreadable.map(({ nodeId, reports }) => ({
      nodeId: toWireId('nod', nodeId),
      reports,
    })),
    findings,
    missing: open.map(({ submissionId, nodeId, tenantId, finding, quoted }) => ({
      submissionId: toWireId('sub', submissionId),
      nodeId: toWireId('nod', nodeId),
      tenantId: tenantId === null ? null : toWireId('tnt', tenantId),
      finding,
      ...(quoted === null ? {} : { quoted: { ...quoted } }),
    })),
  };
}
