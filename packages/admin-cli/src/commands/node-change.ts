import { randomBytes } from 'node:crypto';
import { assertNever, slotsMaxMax, toWireId } from '@svc/domain';
import { enqueueSettlements, publishNodeChanged } from '@svc/queue';
import { newSecret } from '@svc/signing';
import { disableNode, drainNode, enableNode, rotateNodeSecret, setSlotsMax } from '@svc/store';
import type { Command } from 'commander';
import { durationArgument, integerArgument } from '../arguments.ts';
import { addCommand, addYesOption, type CommandOptions } from '../command.ts';
import { confirm } from '../confirm.ts';
import { type Context, withContext } from '../context.ts';
import { printRecord } from '../output.ts';
import { tryRedis } from '../redis.ts';
import { Refusal } from '../refusal.ts';
import { nodeArgument, noSuchNode, showNode } from './node-shown.ts';

interface UpdateOptions extends CommandOptions {
  readonly slotsMax: number;
}

interface RotateOptions extends CommandOptions {
  /** Milliseconds. */
  readonly overlap?: number;
  readonly force?: boolean;
}

/** What a node may have of slots, whatever it asks for (CONTRACT 7). */
export const slotsMaxOption = [
  '--slots-max <number>',
  `how many slots it has at most, 1 to ${slotsMaxMax}`,
  integerArgument(1, slotsMaxMax),
] as const;

const overlapMsDefault = 24 * 3_600_000;

/** What an operator does to a node; the dispatcher that holds its link follows at once. */
export function addNodeChangeCommands(node: Command): void {
  addCommand(node, 'drain', {
    does: 'offer it nothing more, over reconnects too; what it runs it finishes',
    examples: ['svc node drain nod_…'],
  })
    .argument(...nodeArgument)
    .action((id: string, options: CommandOptions) =>
      withContext((context) => drain(context, id, options)),
    );
  addCommand(node, 'enable', {
    does: 'take a drain, a disabling or a quarantine back',
    examples: ['svc node enable nod_…'],
  })
    .argument(...nodeArgument)
    .action((id: string, options: CommandOptions) =>
      withContext((context) => enable(context, id, options)),
    );
  addCommand(node, 'update', {
    does: 'change how many slots it has at most; its link follows at once',
    examples: ['svc node update nod_… --slots-max 8'],
  })
    .argument(...nodeArgument)
    .requiredOption(...slotsMaxOption)
    .action((id: string, options: UpdateOptions) =>
      withContext((context) => update(context, id, options)),
    );
  const disabling = addCommand(node, 'disable', {
    does: 'cut its link and refuse it from now on; what it runs ends as lost, with a full refund',
    examples: ['svc node disable nod_…'],
  });
  addYesOption(disabling)
    .argument(...nodeArgument)
    .action((id: string, options: CommandOptions) =>
      withContext((context) => disable(context, id, options)),
    );
  const rotation = addCommand(node, 'rotate-secret', {
    does: 'give it a new secret, shown this once; the one before stays valid for a while',
    examples: ['svc node rotate-secret nod_…', 'svc node rotate-secret nod_… --overlap 0 --force'],
  });
  addYesOption(rotation)
    .argument(...nodeArgument)
    .option('--overlap <duration>', 'how long the one before is valid (24h)', durationArgument)
    .option('--force', 'while two are valid: refuse the oldest from now on')
    .action((id: string, options: RotateOptions) =>
      withContext((context) => rotate(context, id, options)),
    );
}

async function drain(context: Context, id: string, options: CommandOptions): Promise<void> {
  const drained = await drainNode(context.store, id, context.by);
  if (drained === null) throw noSuchNode();
  await tell(context, id);
  await showNode(context, id, options);
}

async function enable(context: Context, id: string, options: CommandOptions): Promise<void> {
  const enabled = await enableNode(context.store, id, context.by);
  if (enabled === null) throw noSuchNode();
  await tell(context, id);
  await showNode(context, id, options);
}

async function update(context: Context, id: string, options: UpdateOptions): Promise<void> {
  const { slotsMax } = options;
  const updated = await setSlotsMax(context.store, { nodeId: id, slotsMax }, context.by);
  if (updated === null) throw noSuchNode();
  await tell(context, id);
  await showNode(context, id, options);
}

async function disable(context: Context, id: string, options: CommandOptions): Promise<void> {
  const question = `Cut the link of ${toWireId('nod', id)}, and end what it runs as lost?`;
  await confirm(question, options);
  const disabled = await disableNode(context.store, id, context.by);
  if (disabled === null) throw noSuchNode();
  await tell(context, id, disabled.lostSubmissionIds);
  await showNode(context, id, options);
}

async function rotate(context: Context, nodeId: string, options: RotateOptions): Promise<void> {
  const { force = false, overlap: overlapMs = overlapMsDefault } = options;
  const wireId = toWireId('nod', nodeId);
  if (force || overlapMs === 0) {
    await confirm(`Cut off ${wireId} where it still uses an older secret?`, options);
  }
  const secret = newSecret('nsk', randomBytes);
  const rotation = { nodeId, secret, overlapMs, force };
  const outcome = await rotateNodeSecret(context.store, rotation, context.by);
  switch (outcome.kind) {
    case 'rotated': {
      await tell(context, nodeId);
      const { previousSecretExpiresAt: previousValidUntil } = outcome.node;
      return printRecord({ nodeId: wireId, nodeSecret: secret, previousValidUntil }, options);
    }
    case 'two_valid':
      throw new Refusal(
        'Two secrets are valid already, and a third would cut off a node that still uses the ' +
          'oldest. Wait until the overlap is over, or drop the oldest with --force.',
      );
    case 'unknown_node':
      throw noSuchNode();
    default:
      assertNever(outcome);
  }
}

/** After the commit. Without Redis it takes dispatchers and reconcilers a few seconds more. */
async function tell(
  context: Context,
  nodeId: string,
  lostSubmissionIds: readonly string[] = [],
): Promise<void> {
  await tryRedis(context, async ({ redis, prefix, producer }) => {
    await publishNodeChanged(redis, prefix, nodeId);
    if (lostSubmissionIds.length > 0) await enqueueSettlements(producer, lostSubmissionIds);
  });
}
