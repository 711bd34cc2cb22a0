import { fromWireId, toWireId } from '@svc/domain';
import {
  type AuditHead,
  type AuditRecord,
  listAudit,
  parseAuditHead,
  verifyAudit,
} from '@svc/store';
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
import { print, printJson, printTable } from '../output.ts';

interface ListOptions extends CommandOptions {
  by?: string;
  action?: string;
  subject?: string;
  since?: AskedTime;
  until?: AskedTime;
  before?: number;
  limit?: number;
}

/** `svc audit …` (CONTRACT 9). */
export function addAuditCommands(audit: Command): void {
  addCommand(audit, 'list', {
    does: 'list the entries of the audit log (who changed or read what), newest first',
    examples: [
      'svc audit list --since 24h',
      'svc audit list --subject tnt_…',
      'svc audit list --by op_… --action credits.grant --json',
    ],
  })
    .option('--by <id>', 'only entries by this operator (op_…) or tenant (tnt_…)', actorArgument)
    .option('--action <action>', 'only this action, such as tenant.disable')
    .option(
      '--subject <id>',
      'only entries about this subject, such as tnt_…, dlv_… or queue:dispatch',
    )
    .option(
      '--since <time>',
      'only entries since this time or date; 24h means 24 hours ago',
      timeArgument,
    )
    .option('--until <time>', 'only entries before this time', timeArgument)
    .option('--before <entry>', 'only entries older than the one with this number', entryArgument)
    .option(
      '--limit <count>',
      `the most entries to list (default: ${listLimitDefault})`,
      limitArgument,
    )
    .action((options: ListOptions) => withContext((context) => list(context, options)));
  addCommand(audit, 'verify', {
    does: 'verify the hash chain of the audit log; exit code 1 if there is a fault',
    examples: ['svc audit verify', 'svc audit verify --head 412:9f86d0…'],
  })
    .option(
      '--head <head>',
      'also verify that the chain contains this head, which an earlier run printed',
      headArgument,
    )
    .action((options: VerifyOptions) => withContext((context) => verify(context, options)));
}

interface VerifyOptions extends CommandOptions {
  head?: AuditHead;
}

function headArgument(text: string): AuditHead {
  const head = parseAuditHead(text);
  if (head === undefined)
    throw new InvalidArgumentError('It must be a head that `svc audit verify` printed.');
  return head;
}

async function verify({ store }: Context, options: VerifyOptions): Promise<void> {
  const { entries, head, faults } = await verifyAudit(store, options.head);
  if (faults.length > 0) process.exitCode = 1;
  const headText = head === null ? null : `${head.position}:${head.hash}`;
  const shown = faults.map((fault) => ({
    kind: fault.kind,
    entry: 'entryId' in fault ? Number(fault.entryId) : null,
    position: 'position' in fault ? Number(fault.position) : null,
  }));
  if (options.json === true) return printJson({ entries, head: headText, faults: shown });
  print(
    `${entries} entries: ${faults.length === 0 ? 'the chain is intact' : `${faults.length} faults`}.`,
  );
  if (headText !== null) print(`Head ${headText}`);
  if (faults.length === 0) return;
  printTable(
    ['fault', 'entry', 'position in the chain'],
    shown.map(({ kind, entry, position }) => [kind, `${entry ?? '-'}`, `${position ?? '-'}`]),
  );
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

function actorOf({ actorKind: kind, actorId: id, actorName: name, keyId }: AuditRecord) {
  const prefix = kind === 'tenant' ? 'tnt' : 'op';
  const key = keyId === null ? {} : { keyId };
  return { kind, id: id === null ? null : toWireId(prefix, id), name, ...key };
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
