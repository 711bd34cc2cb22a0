import { randomBytes } from 'node:crypto';
import { slotsMaxDefault, toWireId } from '@svc/domain';
import { newId } from '@svc/runtime';
import { newSecret } from '@svc/signing';
import { createNode, findNode, listNodes } from '@svc/store';
import type { Command } from 'commander';
import { idArgument, nameArgument } from '../arguments.ts';
import { addCommand, type CommandOptions } from '../command.ts';
import { type Context, withContext } from '../context.ts';
import { printList, printRecord } from '../output.ts';
import { Refusal } from '../refusal.ts';
import { addNodeChangeCommands, slotsMaxOption } from './node-change.ts';
import { linksOf, nodeArgument, nodeRow, showNode } from './node-output.ts';

const listedNodesMax = 1_000;

interface CreateOptions extends CommandOptions {
  readonly name: string;
  readonly slotsMax: number;
  readonly id?: string;
}

interface ListOptions extends CommandOptions {
  readonly before?: string;
}

/** `svc node …` (CONTRACT 9). */
export function addNodeCommands(node: Command): void {
  addCommand(node, 'create', {
    does: 'create a node and show its secret; it is not shown again',
    examples: ['svc node create --name "Ana, attic"', 'svc node create --name shed --slots-max 8'],
  })
    .requiredOption('--name <name>', 'a display name', nameArgument)
    .option(...slotsMaxOption, slotsMaxDefault)
    .option(
      '--id <node>',
      'after a restore: the id, nod_…, of a node that the backup lacks, so that its reports can be read',
      idArgument('nod'),
    )
    .action((options: CreateOptions) => withContext((context) => create(context, options)));
  addCommand(node, 'list', {
    does: `list nodes, newest first, at most ${listedNodesMax}, and show which of them are connected`,
    examples: ['svc node list --json', 'svc node list --before nod_…'],
  })
    .option('--before <node>', 'only nodes older than this one, nod_…', idArgument('nod'))
    .action((options: ListOptions) => withContext((context) => list(context, options)));
  addCommand(node, 'show', {
    does: 'show a node, its link and what it runs',
    examples: ['svc node show nod_…'],
  })
    .argument(...nodeArgument)
    .action((id: string, options: CommandOptions) =>
      withContext((context) => showNode(context, id, options)),
    );
  addNodeChangeCommands(node);
}

async function create({ store, by }: Context, options: CreateOptions): Promise<void> {
  const { name, slotsMax, id = newId() } = options;
  const secret = newSecret('nsk', randomBytes);
  if ((await findNode(store, id)) !== null)
    throw new Refusal('A node with this id exists already.');
  await createNode(store, { id, name, secret, slotsMax }, by);
  printRecord({ nodeId: toWireId('nod', id), name, slotsMax, nodeSecret: secret }, options);
}

async function list(context: Context, options: ListOptions): Promise<void> {
  const { before = null } = options;
  const nodes = await listNodes(context.store, { before, limit: listedNodesMax });
  const links = await linksOf(
    context,
    nodes.map(({ id }) => id),
  );
  const rows = nodes.map((node) => nodeRow(node, links));
  const columns = [
    'nodeId',
    'name',
    'linked',
    'slotsMax',
    'draining',
    'disabledAt',
    'quarantinedUntil',
    'quarantineReason',
    'lastSeenAt',
  ];
  printList(rows, columns, options);
}
