import { randomBytes } from 'node:crypto';
import { toWireId } from '@svc/domain';
import { newId } from '@svc/runtime';
import { newSecret } from '@svc/signing';
import { createOperator, disableOperator, listOperators, type OperatorRecord } from '@svc/store';
import type { Command } from 'commander';
import { idArgument, nameArgument } from '../arguments.ts';
import { type Context, withContext } from '../context.ts';
import { type OutputOptions, printList, printRecord, type Row } from '../output.ts';
import { Refusal } from '../refusal.ts';

const listedOperatorsMax = 1_000;

/** `svc operator …` (CONTRACT.md section 9). */
export function addOperatorCommands(program: Command): void {
  const operator = program.command('operator').description('keys of the staff');
  operator
    .command('create')
    .description('create an operator; its secret is shown this once')
    .requiredOption('--name <name>', 'a name for people, its own', nameArgument)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ svc operator create --name "Ana, billing"')
    .action((options: OutputOptions & { name: string }) =>
      withContext((context) => create(context, options)),
    );
  operator
    .command('list')
    .description('the newest operators')
    .option('--json', 'print JSON')
    .action((options: OutputOptions) => withContext((context) => list(context, options)));
  operator
    .command('disable')
    .description('refuse its key from now on')
    .argument('<operator>', 'its id, op_…', idArgument('op'))
    .option('--json', 'print JSON')
    .action((id: string, options: OutputOptions) =>
      withContext((context) => disable(context, id, options)),
    );
}

async function create(
  { store }: Context,
  options: OutputOptions & { name: string },
): Promise<void> {
  const { name } = options;
  const id = newId();
  const secret = newSecret('osk', randomBytes);
  const outcome = await createOperator(store, { id, name, secret });
  if (outcome.kind === 'name_taken') {
    throw new Refusal('There is an operator of this name. Give this one its own.');
  }
  printRecord({ operatorId: toWireId('op', id), name, operatorSecret: secret }, options);
}

async function list({ store }: Context, options: OutputOptions): Promise<void> {
  const operators = await listOperators(store, { before: null, limit: listedOperatorsMax });
  const columns = ['operatorId', 'name', 'disabledAt', 'createdAt'];
  printList(operators.map(operatorRow), columns, options);
}

async function disable({ store }: Context, id: string, options: OutputOptions): Promise<void> {
  const disabled = await disableOperator(store, id);
  if (disabled === null) throw new Refusal('There is no such operator.');
  printRecord(operatorRow(disabled), options);
}

function operatorRow({ id, ...operator }: OperatorRecord): Row {
  return { operatorId: toWireId('op', id), ...operator };
}
