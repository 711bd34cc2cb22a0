import { randomBytes } from 'node:crypto';
import { toWireId } from '@svc/domain';
import { newId } from '@svc/runtime';
import { newSecret } from '@svc/signing';
import {
  createOperator,
  disableOperator,
  listOperators,
  type OperatorRecord,
  rotateOperatorSecret,
} from '@svc/store';
import type { Command } from 'commander';
import { idArgument, nameArgument } from '../arguments.ts';
import { addCommand, addYesOption } from '../command.ts';
import { confirm } from '../confirm.ts';
import { type Context, withContext } from '../context.ts';
import { type OutputOptions, printList, printRecord, type Row } from '../output.ts';
import { Refusal } from '../refusal.ts';

const listedOperatorsMax = 1_000;

/** `svc operator …` (CONTRACT 9). */
export function addOperatorCommands(operator: Command): void {
  addCommand(operator, 'create', {
    does: 'create an operator; its secret is shown this once',
    examples: ['svc operator create --name "Ana, billing"'],
  })
    .requiredOption('--name <name>', 'a name for people, its own', nameArgument)
    .action((options: OutputOptions & { name: string }) =>
      withContext((context) => create(context, options), { mayBeFirst: true }),
    );
  addCommand(operator, 'list', {
    does: 'the newest operators',
    examples: ['svc operator list'],
  }).action((options: OutputOptions) => withContext((context) => list(context, options)));
  const disabling = addCommand(operator, 'disable', {
    does: 'refuse its key from now on, for good',
    examples: ['svc operator disable op_…'],
  });
  addYesOption(disabling)
    .argument('<operator>', 'its id, op_…', idArgument('op'))
    .action((id: string, options: OutputOptions) =>
      withContext((context) => disable(context, id, options)),
    );
  const rotation = addCommand(operator, 'rotate-secret', {
    does: 'give it a new secret, shown this once; the old one is refused from now on',
    examples: ['svc operator rotate-secret op_…'],
  });
  addYesOption(rotation)
    .argument('<operator>', 'its id, op_…', idArgument('op'))
    .action((id: string, options: OutputOptions) =>
      withContext((context) => rotateSecret(context, id, options)),
    );
}

async function create(
  { store, by }: Context,
  options: OutputOptions & { name: string },
): Promise<void> {
  const { name } = options;
  const id = newId();
  const secret = newSecret('osk', randomBytes);
  const outcome = await createOperator(store, { id, name, secret }, by);
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

async function disable({ store, by }: Context, id: string, options: OutputOptions): Promise<void> {
  await confirm(`Refuse the key of ${toWireId('op', id)} for good?`, options);
  const disabled = await disableOperator(store, id, by);
  if (disabled === null) throw new Refusal('There is no such operator.');
  printRecord(operatorRow(disabled), options);
}

async function rotateSecret(
  { store, by }: Context,
  operatorId: string,
  options: OutputOptions,
): Promise<void> {
  await confirm(`Refuse the present secret of ${toWireId('op', operatorId)} from now on?`, options);
  const secret = newSecret('osk', randomBytes);
  const rotated = await rotateOperatorSecret(store, { operatorId, secret }, by);
  if (rotated === null) throw new Refusal('There is no such operator.');
  printRecord({ ...operatorRow(rotated), operatorSecret: secret }, options);
}

function operatorRow({ id, ...operator }: OperatorRecord): Row {
  return { operatorId: toWireId('op', id), ...operator };
}
