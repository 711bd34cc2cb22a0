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
import { notifyServices } from '../redis.ts';
import { Refusal } from '../refusal.ts';
import { nodeArgument, unknownNode, showNode } from './node-output.ts';

interface UpdateOptions extends CommandOptions {
  readonly slotsMax: number;
}

interface RotateOptions extends CommandOptions {
  /** The time for which the old secret stays valid, in milliseconds. */
  readonly overlap?: number;
  readonly force?: boolean;
}

/**
 * The option for the most slots of a node. A node that asks for more gets this number of slots
 * (CONTRACT 7, "Slots").
 */
export const slotsMaxOption = [
  '--slots-max <number>',
  `the most slots that the node may have, 1 to ${slotsMaxMax}`,
  integerArgument(1, slotsMaxMax),
] as const;

const overlapMsDefault = 24 * 3_600_000;

/**
 * Adds the commands that change a node. The dispatcher of the node's link applies a change at once,
 * or within a few seconds if Redis cannot be reached.
 */
export function addNodeChangeCommands(node: Command): void {
  addCommand(node, 'drain', {
    does: 'stop offers to a node, even after it reconnects; the node finishes what it runs',
    examples: ['svc node drain nod_…'],
  })
    .argument(...nodeArgument)
    .action((id: string, options: CommandOptions) =>
      withContext((context) => drain(context, id, options)),
    );
  addCommand(node, 'enable', {
    does: 'offer submissions to a node again after a drain, disabling or quarantine',
    examples: ['svc node enable nod_…'],
  })
    .argument(...nodeArgument)
    .action((id: string, options: CommandOptions) =>
      withContext((context) => enable(context, id, options)),
    );
  addCommand(node, 'update', {
    does: 'change the slot limit of a node; no reconnect is needed',
    examples: ['svc node update nod_… --slots-max 8'],
  })
    .argument(...nodeArgument)
    .requiredOption(...slotsMaxOption)
    .action((id: string, options: UpdateOptions) =>
      withContext((context) => update(context, id, options)),
    );
  const disabling = addCommand(node, 'disable', {
    does: 'disconnect a node and refuse its links; its unfinished submissions fail, with a full refund',
    examples: ['svc node disable nod_…'],
  });
  addYesOption(disabling)
    .argument(...nodeArgument)
    .action((id: string, options: CommandOptions) =>
      withContext((context) => disable(context, id, options)),
    );
  const rotation = addCommand(node, 'rotate-secret', {
    does: 'give a node a new secret and show it once; the old one stays valid for the overlap',
    examples: ['svc node rotate-secret nod_…', 'svc node rotate-secret nod_… --overlap 0 --force'],
  });
  addYesOption(rotation)
    .argument(...nodeArgument)
    .option(
      '--overlap <duration>',
      'how long the old secret stays valid (default: 24h)',
      durationArgument,
    )
    .option(
      '--force',
      'rotate even if two secrets are valid already; the older one then ends at once',
    )
    .action((id: string, options: RotateOptions) =>
      withContext((context) => rotate(context, id, options)),
    );
}

async function drain(context: Context, id: string, options: CommandOptions): Promise<void> {
  const drained = await drainNode(context.store, id, context.by);
  if (drained === null) throw unknownNode();
  await notify(context, id);
  await showNode(context, id, options, { isChanged: true });
}

async function enable(context: Context, id: string, options: CommandOptions): Promise<void> {
  const enabled = await enableNode(context.store, id, context.by);
  if (enabled === null) throw unknownNode();
  await notify(context, id);
  await showNode(context, id, options, { isChanged: true });
}

async function update(context: Context, id: string, options: UpdateOptions): Promise<void> {
  const { slotsMax } = options;
  const updated = await setSlotsMax(context.store, { nodeId: id, slotsMax }, context.by);
  if (updated === null) throw unknownNode();
  await notify(context, id);
  await showNode(context, id, options, { isChanged: true });
}

async function disable(context: Context, id: string, options: CommandOptions): Promise<void> {
  const question = `Disconnect ${toWireId('nod', id)} and refuse its links?`;
  await confirm(`${question} Its unfinished submissions fail, with a full refund.`, options);
  const disabled = await disableNode(context.store, id, context.by);
  if (disabled === null) throw unknownNode();
  await notify(context, id, disabled.lostSubmissionIds);
  await showNode(context, id, options, { isChanged: true });
}

async function rotate(context: Context, nodeId: string, options: RotateOptions): Promise<void> {
  const { force = false, overlap: overlapMs = overlapMsDefault } = options;
  const wireId = toWireId('nod', nodeId);
  if (force || overlapMs === 0) {
    const effect =
      overlapMs === 0
        ? `All earlier secrets of ${wireId} stop working within 2 s.`
        : `If ${wireId} has two valid secrets now, the older one stops working within 2 s.`;
    await confirm(
      `${effect} If the node still uses a secret that stops working, it loses its link and cannot reconnect. Go on?`,
      options,
    );
  }
  const secret = newSecret('nsk', randomBytes);
  const rotation = { nodeId, secret, overlapMs, force };
  const outcome = await rotateNodeSecret(context.store, rotation, context.by);
  switch (outcome.kind) {
    case 'rotated': {
      await notify(context, nodeId);
      const { previousSecretExpiresAt: previousValidUntil } = outcome.node;
      return printRecord({ nodeId: wireId, nodeSecret: secret, previousValidUntil }, options);
    }
    case 'two_valid':
      throw new Refusal(
        'Two secrets are valid already. A third would cut off a node that still uses the oldest. ' +
          'Wait until the overlap ends, or drop the oldest secret with --force.',
      );
    case 'unknown_node':
      throw unknownNode();
    default:
      assertNever(outcome);
  }
}

/**
 * Notifies the services of a change of a node. Call it after the commit of the change. If Redis
 * cannot be reached, the services find the change in Postgres within a few seconds.
 */
async function notify(
  context: Context,
  nodeId: string,
  lostSubmissionIds: readonly string[] = [],
): Promise<void> {
  await notifyServices(context, async ({ redis, prefix, producer }) => {
    await publishNodeChanged(redis, prefix, nodeId);
    if (lostSubmissionIds.length > 0) await enqueueSettlements(producer, lostSubmissionIds);
  });
}
