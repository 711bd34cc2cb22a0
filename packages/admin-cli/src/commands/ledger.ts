import { auditLedger, saveWholeAudit } from '@svc/store';
import type { Command } from 'commander';
import { addCommand } from '../command.ts';
import { type Context, withContext } from '../context.ts';
import { type OutputOptions, printJson, printList } from '../output.ts';

/** `svc ledger …` (CONTRACT 9). */
export function addLedgerCommands(ledger: Command): void {
  addCommand(ledger, 'verify', {
    does: 'verify every account, entry and ended hold; exit code 1 if one is wrong',
    examples: ['svc ledger verify'],
  }).action((options: OutputOptions) => withContext((context) => verify(context, options)));
}

async function verify({ store }: Context, options: OutputOptions): Promise<void> {
  const audit = await auditLedger(store);
  await saveWholeAudit(store, audit);
  if (audit.faults.length > 0) process.exitCode = 1;
  if (options.json === true) return printJson(audit);
  process.stdout.write(
    `Verified ${audit.tenants} tenants and ${audit.submissions} submissions: ${
      audit.faults.length === 0 ? 'no faults.' : `${audit.faults.length} faults.`
    }\n`,
  );
  if (audit.faults.length > 0) {
    printList(
      audit.faults.map((fault) => ({ ...fault })),
      ['kind', 'subject', 'detail'],
      options,
    );
  }
}
