import { openKeyring } from '@svc/signing';
import {
  countSealedRows,
  type ResealedPage,
  resealPage,
  sealedColumns,
  withAudit,
} from '@svc/store';
import type { Command } from 'commander';
import { addCommand, type CommandOptions } from '../command.ts';
import { type Context, withContext } from '../context.ts';
import { print, printJson, printTable } from '../output.ts';
import { createProgress } from '../progress.ts';
import { Refusal } from '../refusal.ts';

/** `svc master-key …` (CONTRACT.md section 9). */
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
      ].join('\n'),
    )
    .action((options: CommandOptions) => withContext((context) => rotate(context, options)));
}

async function rotate(context: Context, options: CommandOptions): Promise<void> {
  const { store, by, configuration } = context;
  const { sealingKeyId: keyId, keys } = openKeyring(configuration.SVC_MASTER_KEY);
  const subject = { kind: 'service', id: 'master-key' } as const;
  const after = { keyId, keyIds: [...keys.keys()] };
  const change = { action: 'master_key.rotate', subject, before: null, after };
  await withAudit(store, change, by, () => Promise.resolve());
  const resealed = await resealAll(context, options);
  if (options.json === true) return printJson({ keyId, resealed });
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

async function resealAll({ store }: Context, options: CommandOptions): Promise<ResealedColumn[]> {
  const progress = createProgress('Resealing', await countSealedRows(store), options);
  const columns: ResealedColumn[] = [];
  let done = 0;
  for (const column of sealedColumns) {
    const name = `${column.table}.${column.column}`;
    let [looked, resealed] = [0, 0];
    let after: string | null = null;
    do {
      const page: ResealedPage = await resealPage(store, column, after).catch(explainSealError);
      looked += page.looked;
      resealed += page.resealed;
      progress.show((done += page.looked));
      after = page.next;
    } while (after !== null);
    columns.push({ column: name, looked, resealed });
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
