import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { openKeyring } from '@svc/signing';
import {
  beginReseal,
  countSealedRows,
  databaseNow,
  endReseal,
  findKeyHolders,
  findSealingKeys,
  forgetSealingKeys,
  keyHeartbeatMs,
  publishKeys,
  type ResealedPage,
  resealPage,
  type SealedColumn,
  sealedColumns,
  type Store,
  withAudit,
  withdrawKeys,
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
    does: 'reseal all sealed data in Postgres under the first key of SVC_MASTER_KEY, page by page',
    examples: ['SVC_MASTER_KEY=2027:…,2026:… svc master-key rotate'],
  })
    .addHelpText(
      'after',
      [
        '',
        '1. Set SVC_MASTER_KEY of every service to both keys, the old one first: `2026:…,2027:…`.',
        '   Every service can then read data sealed under either key.',
        '2. Now put the new key first, for every service and for this command: `2027:…,2026:…`.',
        '   Run this command. You can interrupt it and run it again at any time.',
        '   It refuses while a running process lacks the new key, and names the process.',
        '3. When the command names no other key under which data may be sealed, remove the old key.',
        '',
        'Also run this command after an upgrade if `svc migrate` asks for it. First wait until',
        'every service runs the new version. Leave SVC_MASTER_KEY unchanged.',
      ].join('\n'),
    )
    .option(
      '--alone',
      'do not wait until every running service seals in the format of this version; use this only if no service is running',
    )
    .option(
      '--force',
      'rotate although a running process lacks the new key; it answers 503 until it has the key',
    )
    .action((options: RotateOptions) => withContext((context) => rotate(context, options)));
}

interface RotateOptions extends CommandOptions {
  readonly alone?: boolean;
  readonly force?: boolean;
}

async function rotate(context: Context, options: RotateOptions): Promise<void> {
  const { store, by, configuration } = context;
  const { sealingKeyId: keyId, keys } = openKeyring(configuration.SVC_MASTER_KEY);
  const subject = { kind: 'service', id: 'master-key' } as const;
  const isForced = options.force === true;
  if (!isForced) await refuseWithoutKey(store, keyId);
  const after = { keyId, keyIds: [...keys.keys()], ...(isForced ? { forced: true } : {}) };
  const change = { action: 'master_key.rotate', subject, before: null, after };
  await withAudit(store, change, by, () => Promise.resolve());
  const resealed = await withHeartbeat(store, async () => {
    // A process that starts from now on sees the key of this command, and is not ready without it.
    if (!isForced) await refuseWithoutKey(store, keyId);
    const since = await databaseNow(store);
    const columns = await resealAll(context, options);
    await forgetSealingKeys(store, since);
    return columns;
  });
  const stillSealing = (await findSealingKeys(store)).filter((id) => id !== keyId);
  if (options.json === true) {
    const shown = resealed.map(({ column, looked, resealed: count }) => ({
      column,
      looked,
      resealed: count,
    }));
    return printJson({ keyId, resealed: shown, stillSealing });
  }
  printTable(
    ['column', 'checked', 'resealed'],
    resealed.map(({ column, looked, resealed: count }) => [column, `${looked}`, `${count}`]),
  );
  print(`All sealed data in Postgres is now sealed under the key ${keyId}.`);
  if (stillSealing.length > 0) print(await whyKeep(store, stillSealing));
  if (keys.size === 1) {
    print(
      'SVC_MASTER_KEY has only this key. To replace it, follow the steps in `svc master-key rotate --help`.',
    );
  }
}

/** Throws `Refusal` if a live process cannot open what is sealed under the new key. */
async function refuseWithoutKey(store: Store, keyId: string): Promise<void> {
  const lacking = (await findKeyHolders(store)).filter(({ keyIds }) => !keyIds.includes(keyId));
  if (lacking.length === 0) return;
  const names = lacking.map(({ service, host }) => `${service} on ${host}`).join(', ');
  throw new Refusal(
    `These processes lack the key ${keyId}: ${names}. Add the key to their SVC_MASTER_KEY, restart them, and run this command again. A process that has just crashed counts for 30 s. --force rotates anyway.`,
  );
}

/** Processes that seal under an old key have written values while this command ran, or will do so. */
async function whyKeep(store: Store, keyIds: readonly string[]): Promise<string> {
  const holders = await findKeyHolders(store);
  const names = holders
    .filter((one) => keyIds.includes(one.keyIds[0] ?? ''))
    .map(({ service, host }) => `${service} on ${host}`);
  const by = names.length === 0 ? '' : ` by ${names.join(', ')}`;
  return `Data may still be sealed under ${keyIds.join(', ')}${by}. Put the new key first for every process, and run this command again before you remove the old key.`;
}

/** Publishes the keys of this command while `work` runs, as the services publish theirs. */
async function withHeartbeat<T>(store: Store, work: () => Promise<T>): Promise<T> {
  const holder = { id: store.newId(), service: 'svc master-key rotate', host: hostname() };
  await publishKeys(store, holder);
  const timer = setInterval(() => void publishKeys(store, holder).catch(() => {}), keyHeartbeatMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    // If this fails, the row no longer counts after half a minute.
    await withdrawKeys(store, holder.id).catch(() => {});
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
 * Reseals all sealed data under the first key of SVC_MASTER_KEY. One pass is enough if the store is
 * in the phase `bound` (see `SealingPhase`).
 */
async function resealAll(
  { store }: Context,
  options: RotateOptions,
): Promise<readonly ResealedColumn[]> {
  await beginReseal(store);
  // The table `environment` is resealed last. As soon as its value is in the present format,
  // services refuse values in the previous one.
  const columns = sealedColumns.filter(({ table }) => table !== 'environment');
  const total = await resealPass(store, columns, options);
  // Before the phase `bound`, services may still write values in the format of the previous
  // version. The passes therefore repeat until a pass finds no value to reseal.
  while (store.sealer.phase !== 'bound') {
    // Before each repeated pass, the command waits until no service still writes the previous
    // version's format. `--alone` skips this wait.
    while (options.alone !== true && (await beginReseal(store)) > 0) await delay(waitPollMs);
    const again = await resealPass(store, columns, options);
    if (again.every(({ resealed, changed }) => resealed + changed === 0)) await endReseal(store);
    for (const [index, { resealed }] of again.entries()) {
      const column = total[index];
      if (column !== undefined) column.resealed += resealed;
    }
  }
  // If the loop has run, `endReseal` has resealed the value of `environment`. Otherwise this pass
  // reseals it.
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
    `${error.message} Check that SVC_MASTER_KEY has every key under which data is still sealed.`,
  );
}
