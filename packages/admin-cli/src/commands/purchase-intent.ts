import {
  creditsToNumber,
  formatCredits,
  type IntentStatus,
  intentStatuses,
  toWireId,
} from '@svc/domain';
import { listPurchaseIntents, type PurchaseIntent, readPurchaseIntent } from '@svc/store';
import { type Command, InvalidArgumentError } from 'commander';
import { idArgument } from '../arguments.ts';
import { addCommand, type CommandOptions } from '../command.ts';
import { withContext } from '../context.ts';
import { printList, printRecord, type Row } from '../output.ts';
import { Refusal } from '../refusal.ts';

interface ListOptions extends CommandOptions {
  readonly tenant?: string;
  readonly status?: IntentStatus;
  readonly overpaid?: boolean;
}

const listMax = 1_000;

/** `svc purchase-intent …` (CONTRACT 8 and 9). */
export function addPurchaseIntentCommands(group: Command): void {
  addCommand(group, 'list', {
    does: 'list the newest purchase intents',
    examples: ['svc purchase-intent list --status failed', 'svc purchase-intent list --overpaid'],
  })
    .option('--tenant <tenant>', 'only intents of this tenant, tnt_…', idArgument('tnt'))
    .option('--status <status>', intentStatuses.join(', '), statusArgument)
    .option('--overpaid', 'only confirmed intents that received more than their amount')
    .action((options: ListOptions) => withContext(({ store }) => list(store, options)));
  addCommand(group, 'show', {
    does: 'show a purchase intent, its payments and, if it is not credited, the reason',
    examples: ['svc purchase-intent show 7dHb…'],
  })
    .argument('<reference>', 'its reference')
    .action((reference: string, options: CommandOptions) =>
      withContext(async ({ store }) => {
        const intent = await readPurchaseIntent(store, { reference });
        if (intent === null) {
          throw new Refusal(
            'There is no such intent. Run `svc purchase-intent list` to see the references.',
          );
        }
        printRecord(rowOf(intent), options);
      }),
    );
}

function statusArgument(text: string): IntentStatus {
  const status = intentStatuses.find((one) => one === text);
  if (status === undefined) {
    throw new InvalidArgumentError(`It must be one of ${intentStatuses.join(', ')}.`);
  }
  return status;
}

async function list(
  store: Parameters<typeof listPurchaseIntents>[0],
  options: ListOptions,
): Promise<void> {
  const intents = await listPurchaseIntents(store, {
    tenantId: options.tenant ?? null,
    status: options.status ?? null,
    isOverpaid: options.overpaid === true,
    limit: listMax,
  });
  const columns = [
    'reference',
    'tenantId',
    'status',
    'amount',
    'paidAmount',
    'createdAt',
    'reason',
  ];
  printList(intents.map(rowOf), columns, options);
}

function rowOf(intent: PurchaseIntent): Row {
  return {
    reference: intent.reference,
    tenantId: toWireId('tnt', intent.tenantId),
    status: intent.status,
    credits: creditsToNumber(intent.creditsMicros),
    amount: creditsToNumber(intent.amountUsdcMicros),
    paidAmount: creditsToNumber(intent.paidUsdcMicros),
    signature: intent.signature,
    recipient: intent.recipient,
    tokenAccount: intent.tokenAccount,
    mint: intent.mint,
    createdAt: intent.createdAt.toISOString(),
    expiresAt: intent.expiresAt.toISOString(),
    graceEndsAt: intent.graceEndsAt.toISOString(),
    confirmedAt: intent.confirmedAt?.toISOString() ?? null,
    payments: intent.payments.map(({ signature, amountUsdcMicros, at }) => ({
      signature,
      amount: creditsToNumber(amountUsdcMicros),
      at: at.toISOString(),
    })),
    reason: reasonOf(intent),
  };
}

const assign = 'grant credits with svc solana assign';

/** The reason for which an intent is not credited although its amount is paid. */
function reasonOfPaid({ payments, amountUsdcMicros, graceEndsAt }: PurchaseIntent): string {
  // Payments that were recorded within the grace came in time. Later ones may have come in time,
  // too.
  const found = payments.filter(({ at }) => at.getTime() <= graceEndsAt.getTime());
  const foundUsdcMicros = found.reduce((sum, one) => sum + one.amountUsdcMicros, 0n);
  return foundUsdcMicros >= amountUsdcMicros
    ? "its amount was paid in time, but with its credits the tenant's balance would have exceeded the maximum"
    : "the payment that completes the amount was found only after the grace of the intent. Either it was sent after the grace, or the intent was already closed when it was found, or the tenant's balance would have exceeded the maximum";
}

/** The reason for which the intent is not credited. Null if it is credited. */
function reasonOf(intent: PurchaseIntent): string | null {
  const missing = intent.amountUsdcMicros - intent.paidUsdcMicros;
  const { payments, status } = intent;
  if (status !== 'confirmed' && payments.length > 0 && payments.every((one) => one.isGranted))
    return 'an operator has granted credits for its payments';
  const part = `${formatCredits(missing > 0n ? missing : 0n)} USDC are missing`;
  switch (status) {
    case 'confirmed':
      return null;
    case 'pending':
      if (missing <= 0n) return `${reasonOfPaid(intent)}; when its status is failed, ${assign}`;
      return intent.paidUsdcMicros > 0n ? part : 'no finalized payment was found yet';
    case 'failed':
      return missing <= 0n
        ? `${reasonOfPaid(intent)}; ${assign}`
        : `its grace ended and ${part}; ${assign}`;
    case 'expired':
      if (!intent.isClosed) {
        return missing <= 0n
          ? `${reasonOfPaid(intent)}; when its status is failed, ${assign}`
          : `it expired, and ${part}; a payment within its grace still counts`;
      }
      return intent.paidUsdcMicros > 0n
        ? `a payment was found only after the intent was closed: the payment came after the grace of the intent, or it came in time but was found too late; ${assign}`
        : 'its grace ended, and no payment was found';
  }
}
