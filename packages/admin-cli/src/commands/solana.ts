import { creditsToNumber, purchaseNoteLengthMax, toWireId } from '@svc/domain';
import { newId } from '@svc/runtime';
import { assignPayment, readWatcherStatus, type Store } from '@svc/store';
import type { Command } from 'commander';
import { creditsArgument, idArgument } from '../arguments.ts';
import { addCommand, type CommandOptions } from '../command.ts';
import { type Context, withContext } from '../context.ts';
import { printRecord } from '../output.ts';
import { Refusal } from '../refusal.ts';

interface AssignOptions extends CommandOptions {
  readonly tenant: string;
  readonly credits: bigint;
  readonly reason: string;
}

const listedMax = 100;

/** `svc solana …` (CONTRACT 8). */
export function addSolanaCommands(group: Command): void {
  addCommand(group, 'status', {
    does: 'show the watcher of payments, how far it has read, and the unexplained payments',
    examples: ['svc solana status', 'svc solana status --json'],
  }).action((options: CommandOptions) => withContext(({ store }) => status(store, options)));
  addCommand(group, 'assign', {
    does: 'grant credits to a tenant, once, for a payment that granted none',
    examples: [
      'svc solana assign 5VER… --tenant tnt_… --credits 500 --reason "paid without the reference"',
    ],
  })
    .argument('<signature>', 'the signature of the payment')
    .requiredOption('--tenant <tenant>', 'its id, tnt_…', idArgument('tnt'))
    .requiredOption('--credits <credits>', 'the number of credits', creditsArgument)
    .requiredOption('--reason <reason>', 'the reason for the grant; the audit log keeps it')
    .action((signature: string, options: AssignOptions) =>
      withContext((context) => assign(context, signature, options)),
    );
}

async function status(store: Store, options: CommandOptions): Promise<void> {
  const found = await readWatcherStatus(store, listedMax);
  printRecord(
    {
      watcher: found.isHeld ? 'running' : 'none',
      epoch: Number(found.epoch),
      polledAt: found.polledAt?.toISOString() ?? null,
      rpcAnsweredAt: found.rpcAnsweredAt?.toISOString() ?? null,
      problem: found.problem,
      openIntents: found.openIntents,
      cursors: found.cursors.map((cursor) => ({
        ...cursor,
        listedAt: cursor.listedAt?.toISOString() ?? null,
      })),
      unread: found.unread.map((one) => ({ ...one, firstSeenAt: one.firstSeenAt.toISOString() })),
      unexplained: found.unexplained.map(({ amountUsdcMicros, at, ...payment }) => ({
        ...payment,
        amount: creditsToNumber(amountUsdcMicros),
        at: at.toISOString(),
      })),
    },
    options,
  );
}

async function assign(
  { store, by }: Context,
  signature: string,
  { tenant: tenantId, credits: creditsMicros, reason, ...options }: AssignOptions,
): Promise<void> {
  if (creditsMicros === 0n) throw new Refusal('The grant must be more than 0 credits.');
  if (reason === '' || reason.length > purchaseNoteLengthMax) {
    throw new Refusal(`The reason must have 1 to ${purchaseNoteLengthMax} characters.`);
  }
  const purchaseId = newId();
  const assignment = { purchaseId, signature, tenantId, creditsMicros, reason };
  const outcome = await assignPayment(store, assignment, by);
  switch (outcome.kind) {
    case 'assigned':
      printRecord(
        {
          purchaseId: toWireId('pur', purchaseId),
          tenantId: toWireId('tnt', tenantId),
          signature,
          credits: creditsToNumber(creditsMicros),
          balance: { after: creditsToNumber(outcome.availableAfterMicros) },
        },
        options,
      );
      return;
    case 'unknown_payment':
      throw new Refusal(
        'The watcher has not read a payment with this signature. See `unread` and `unexplained` in `svc solana status`.',
      );
    case 'intent_open':
      throw new Refusal(
        'The payment was added to an intent that can still be completed. Wait until the intent is closed.',
      );
    case 'already_granted':
      throw new Refusal('Credits were granted for this payment before.');
    case 'unknown_tenant':
      throw new Refusal('There is no such tenant. Run `svc tenant list` to see the ids.');
    case 'balance_too_large':
      throw new Refusal(
        'The balance would exceed 999999999.999999 credits. Try again when the balance is lower.',
      );
  }
}
