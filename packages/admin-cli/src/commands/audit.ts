import { fromWireId, toWireId } from '@svc/domain';
import { type AuditRecord, listAudit } from '@svc/store';
import { type Command, InvalidArgumentError } from 'commander';
import {
  type AskedTime,
  integerArgument,
  limitArgument,
  listLimitDefault,
  timeArgument,
  timeOf,
} from '../arguments.ts';
import { addCommand, type CommandOptions } from '../command.ts';
import { type Context, withContext } from '../context.ts';
import { printJson, printTable } from '../output.ts';

interface ListOptions extends CommandOptions {
  by?: string;
  action?: string;
  subject?: string;
  since?: AskedTime;
  until?: AskedTime;
  before?: number;
  limit?: number;
}

/** `svc audit …` (CONTRACT.md section 9). */
export function addAuditCommands(audit: Command): void {
  addCommand(audit, 'list', {
    does: 'who changed what, newest first',
    examples: [
      'svc audit list --since 24h',
      'svc audit list --subject tnt_…',
      'svc audit list --by op_… --action credits.grant --json',
    ],
  })
    .option('--by <id>', 'by this operator (op_…) or tenant (tnt_…)', actorArgument)
    .option('--action <action>', 'of this kind, such as tenant.disable')
    .option('--subject <id>', 'of this tenant, node, purchase, submission or service')
    .option('--since <time>', 'from then on: a time, or so long ago (24h)', timeArgument)
    .option('--until <time>', 'before then', timeArgument)
    .option('--before <entry>', 'older than this entry, by its number', entryArgument)
    .option('--limit <count>', `how many (${listLimitDefault})`, limitArgument)
    .action((options: ListOptions) => withContext((context) => list(context, options)));
}

const entryArgument = integerArgument(1, Number.MAX_SAFE_INTEGER);

function actorArgument(text: string): string {
  const id = fromWireId('op', text) ?? fromWireId('tnt', text);
  if (id === undefined) throw new InvalidArgumentError('It must be an id like op_… or tnt_….');
  return id;
}

async function list({ store }: Context, options: ListOptions): Promise<void> {
  const { by, action, subject, since, until, before, limit } = options;
  const entries = await listAudit(store, {
    actorId: by ?? null,
    action: action ?? null,
    subjectId: subject ?? null,
    since: since === undefined ? null : await timeOf(store, since),
    until: until === undefined ? null : await timeOf(store, until),
    beforeId: before === undefined ? null : BigInt(before),
    limit: limit ?? listLimitDefault,
  });
  if (options.json === true) return printJson(entries.map(entryRecord));
  printTable(
    ['entry', 'at', 'by', 'action', 'subject', 'before', 'after'],
    entries.map(entryCells),
  );
}

function actorOf({ actorKind: kind, actorId: id, actorName: name }: AuditRecord) {
  const prefix = kind === 'tenant' ? 'tnt' : 'op';
  return { kind, id: id === null ? null : toWireId(prefix, id), name };
}

function entryRecord(entry: AuditRecord): object {
  return {
    entry: Number(entry.id),
    at: entry.at,
    by: actorOf(entry),
    action: entry.action,
    subject: { kind: entry.subjectKind, id: entry.subjectId },
    before: entry.before,
    after: entry.after,
    requestId: entry.requestId,
  };
}

function entryCells(entry: AuditRecord): string[] {
  const { kind, name } = actorOf(entry);
  return [
    String(entry.id),
    entry.at.toISOString(),
    name === null ? kind : `${name} (${kind})`,
    entry.action,
    entry.subjectId ?? entry.subjectKind,
    changeText(entry.before),
    changeText(entry.after),
  ];
}

function changeText(change: unknown): string {
  if (typeof change !== 'object' || change === null) return '-';
  return Object.entries(change)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}
