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
    does: 'create an operator and show its secret; it is not shown again',
    examples: ['svc operator create --name "Ana, billing"'],
  })
    .requiredOption('--name <name>', 'a unique display name', nameArgument)
    .action((options: OutputOptions & { name: string }) =>
      withContext((context) => create(context, options), { mayBeFirst: true }),
    );
  addCommand(operator, 'list', {
    does: 'list the newest operators',
    examples: ['svc operator list'],
  }).action((options: OutputOptions) => withContext((context) => list(context, options)));
  const disabling = addCommand(operator, 'disable', {
    does: 'disable the key of an operator permanently',
    examples: ['svc operator disable op_…'],
  });
  addYesOption(disabling)
    .argument('<operator>', 'its id, op_…', idArgument('op'))
    .action((id: string, options: OutputOptions) =>
      withContext((context) => disable(context, id, options)),
    );
  const rotation = addCommand(operator, 'rotate-secret', {
    does: 'give an operator a new secret and show it once; the old one stops working within 5 s',
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
    throw new Refusal('Another operator has this name. Choose a different name.');
  }
  printRecord({ operatorId: toWireId('op', id), name, operatorSecret: secret }, options);
}

async function list({ store }: Context, options: OutputOptions): Promise<void> {
  const operators = await listOperators(store, { before: null, limit: listedOperatorsMax });
  const columns = ['operatorId', 'name', 'disabledAt', 'createdAt'];
  printList(operators.map(operatorRow), columns, options);
}

async function disable({ store, by }: Context, id: string, options: OutputOptions): Promise<void> {
  await confirm(`Disable the key of ${toWireId('op', id)} permanently?`, options);
  const disabled = await disableOperator(store, id, by);
  if (disabled === null)
    throw new Refusal('There is no such operator. Run `svc operator list` to see the ids.');
  printRecord(operatorRow(disabled), options);
}

async function rotateSecret(
  { store, by }: Context,
  operatorId: string,
  options: OutputOptions,
): Promise<void> {
  await confirm(
    `Replace the secret of ${toWireId('op', operatorId)}? The old one stops working within 5 s.`,
    options,
  );
  const secret = newSecret('osk', randomBytes);
  const rotated = await rotateOperatorSecret(store, { operatorId, secret }, by);
  if (rotated === null)
    throw new Refusal('There is no such operator. Run `svc operator list` to see the ids.');
  printRecord({ ...operatorRow(rotated), operatorSecret: secret }, options);
}

function operatorRow({ id, ...operator }: OperatorRecord): Row {
  return { operatorId: toWireId('op', id), ...operator };
}
