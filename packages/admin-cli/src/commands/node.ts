import { randomBytes } from 'node:crypto';
import { toWireId } from '@svc/domain';
import { newId } from '@svc/runtime';
import { newSecret } from '@svc/signing';
import { createNode, listNodes } from '@svc/store';
import type { Command } from 'commander';
import { nameArgument } from '../arguments.ts';
import { type Context, withContext } from '../context.ts';
import { type OutputOptions, printList, printRecord } from '../output.ts';

const listedNodesMax = 1_000;

/** `svc node …` (CONTRACT.md section 9). */
export function addNodeCommands(program: Command): void {
  const node = program.command('node').description('nodes that run jobs');
  node
    .command('create')
    .description('create a node; its secret is shown this once')
    .requiredOption('--name <name>', 'a name for people', nameArgument)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ svc node create --name "Ana, attic"')
    .action((options: OutputOptions & { name: string }) =>
      withContext((context) => create(context, options)),
    );
  node
    .command('list')
    .description('the newest nodes')
    .option('--json', 'print JSON')
    .action((options: OutputOptions) => withContext((context) => list(context, options)));
}

async function create(
  { store }: Context,
  options: OutputOptions & { name: string },
): Promise<void> {
  const id = newId();
  const secret = newSecret('nsk', randomBytes);
  await createNode(store, { id, name: options.name, secret });
  printRecord({ nodeId: toWireId('nod', id), name: options.name, nodeSecret: secret }, options);
}

async function list({ store }: Context, options: OutputOptions): Promise<void> {
  const nodes = await listNodes(store, { before: null, limit: listedNodesMax });
  const rows = nodes.map(({ id, ...node }) => ({ nodeId: toWireId('nod', id), ...node }));
  const columns = ['nodeId', 'name', 'draining', 'agentVersion', 'lastSeenAt', 'disabledAt'];
  printList(rows, columns, options);
}
