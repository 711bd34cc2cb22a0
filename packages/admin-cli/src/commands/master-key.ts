import { setTimeout as delay } from 'node:timers/promises';
import { openKeyring } from '@svc/signing';
import {
  beginReseal,
  countSealedRows,
  endReseal,
  type ResealedPage,
  resealPage,
  type SealedColumn,
  sealedColumns,
  type Store,
  withAudit,
} from '@svc/store';
import type { Command } from 'commander';
import { addCommand, type CommandOptions } from '../command.ts';
import { type Context, withContext } from '../context.ts';
import { print, printJson, printTable } from '../output.ts';
import { createProgress } from '../progress.ts';
import { Refusal } from '../refusal.ts';

/** `svc master-key …` (CONTRACT 9). */
export function addMasterKeyCommands(masterKey: Command): void {
  addCommand(masterKey, 'rotate', {
    does: 'seal everything under the first key of SVC_MASTER_KEY, a page at a time',
    examples: ['SVC_MASTER_KEY=2027:…,2026:… svc master-key rotate'],
  })
    .addHelpText(
      'after',
      [
        '',
        'Give every service a key ring of two, `2026:…,2027:…`: they can read both from then on. Then',
        'put the new one first, `2027:…,2026:…`, in every service and here, and run this. It may be',
        'broken off and run again at any time. Once it says that nothing is left, drop the old key.',
        '',
        'Run it also, with the key as it is, after an upgrade for which `svc migrate` asks for it, once',
        'every service is of the new version.',
      ].join('\n'),
    )
    .option('--alone', 'no service is running: do not wait for any')
    .action((options: RotateOptions) => withContext((context) => rotate(context, options)));
}

interface RotateOptions extends CommandOptions {
  readonly alone?: boolean;
}

async function rotate(context: Context, options: RotateOptions): Promise<void> {
  const { store, by, configuration } = context;
  const { sealingKeyId: keyId, keys } = openKeyring(configuration.SVC_MASTER_KEY);
  const subject = { kind: 'service', id: 'master-key' } as const;
  const after = { keyId, keyIds: [...keys.keys()] };
  const change = { action: 'master_key.rotate', subject, before: null, after };
  await withAudit(store, change, by, () => Promise.resolve());
  const resealed = await resealAll(context, options);
  if (options.json === true) {
    const shown = resealed.map(({ column, looked, resealed: count }) => ({
      column,
      looked,
      resealed: count,
    }));
    return printJson({ keyId, resealed: shown });
  }
  printTable(
    ['column', 'looked at', 'resealed'],
    resealed.map(({ column, looked, resealed: count }) => [column, `${looked}`, `${count}`]),
  );
  print(`Everything is sealed under ${keyId}.`);
  if (keys.size === 1) {
    print('To rotate, put a new key before it: see `svc master-key rotate --help`.');
  }
}

interface ResealedColumn {
  readonly column: string;
  readonly looked: number;
  readonly resealed: number;
}

interface PassedColumn {
  readonly column: string;
  looked: number;
  resealed: number;
  changed: number;
}

const waitPollMs = 500;

/**
 * One pass over everything. If the database was sealed by the version before, further passes follow
 * until one finds nothing, after the last service has stopped to seal as that version did.
 */
async function resealAll(
  { store }: Context,
  options: RotateOptions,
): Promise<readonly ResealedColumn[]> {
  await beginReseal(store);
  const columns = sealedColumns.filter(({ table }) => table !== 'environment');
  const total = await resealPass(store, columns, options);
  while (store.sealer.phase !== 'bound') {
    while (options.alone !== true && (await beginReseal(store)) > 0) await delay(waitPollMs);
    const again = await resealPass(store, columns, options);
    if (again.every(({ resealed, changed }) => resealed + changed === 0)) await endReseal(store);
    for (const [index, { resealed }] of again.entries()) {
      const column = total[index];
      if (column !== undefined) column.resealed += resealed;
    }
  }
  const last = sealedColumns.filter(({ table }) => table === 'environment');
  return [...total, ...(await resealPass(store, last, options))];
}

async function resealPass(
  store: Store,
  sealed: readonly SealedColumn[],
  options: CommandOptions,
): Promise<PassedColumn[]> {
  const progress = createProgress('Resealing', await countSealedRows(store), options);
  const columns: PassedColumn[] = [];
  let done = 0;
  for (const column of sealed) {
    const passed = {
      column: `${column.table}.${column.column}`,
      looked: 0,
      resealed: 0,
      changed: 0,
    };
    let after: string | null = null;
    do {
      const page: ResealedPage = await resealPage(store, column, after).catch(explainSealError);
      passed.looked += page.looked;
      passed.resealed += page.resealed;
      passed.changed += page.changed;
      progress.show((done += page.looked));
      after = page.next;
    } while (after !== null);
    columns.push(passed);
  }
  progress.end();
  return columns;
}

function explainSealError(error: unknown): never {
  if (!(error instanceof Error) || error.name !== 'SealError') throw error;
  throw new Refusal(
    `${error.message} SVC_MASTER_KEY must hold every key that anything is still sealed under.`,
  );
}
