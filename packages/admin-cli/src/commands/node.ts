import { randomBytes } from 'node:crypto';
import { toWireId } from '@svc/domain';
import { newId } from '@svc/runtime';
import { newSecret } from '@svc/signing';
import { createNode, listNodes } from '@svc/store';
import type { Command } from 'commander';
import { nameArgument } from '../arguments.ts';
import { addCommand } from '../command.ts';
import { type Context, withContext } from '../context.ts';
import { type OutputOptions, printList, printRecord } from '../output.ts';

const listedNodesMax = 1_000;

/** `svc node …` (CONTRACT.md section 9). */
export function addNodeCommands(node: Command): void {
  addCommand(node, 'create', {
    does: 'create a node; its secret is shown this once',
    examples: ['svc node create --name "Ana, attic"'],
  })
    .requiredOption('--name <name>', 'a name for people', nameArgument)
    .action((options: OutputOptions & { name: string }) =>
      withContext((context) => create(context, options)),
    );
  addCommand(node, 'list', { does: 'the newest nodes', examples: ['svc node list --json'] }).action(
    (options: OutputOptions) => withContext((context) => list(context, options)),
  );
}

async function create(
  { store, by }: Context,
  options: OutputOptions & { name: string },
): Promise<void> {
  const id = newId();
  const secret = newSecret('nsk', randomBytes);
  await createNode(store, { id, name: options.name, secret }, by);
  printRecord({ nodeId: toWireId('nod', id), name: options.name, nodeSecret: secret }, options);
}

async function list({ store }: Context, options: OutputOptions): Promise<void> {
  const nodes = await listNodes(store, { before: null, limit: listedNodesMax });
  const rows = nodes.map(({ id, ...node }) => ({ nodeId: toWireId('nod', id), ...node }));
  const columns = ['nodeId', 'name', 'draining', 'agentVersion', 'lastSeenAt', 'disabledAt'];
  printList(rows, columns, options);
}
