import { balanceAnswer } from '@svc/contracts/views/balance';
import { creditsToNumber, formatCredits, toWireId } from '@svc/domain';
import { newId } from '@svc/runtime';
import { currentRateCard, grantCredits, payRebate, readBalance, reversePurchase } from '@svc/store';
import type { Command } from 'commander';
import { creditsArgument, idArgument } from '../arguments.ts';
import { addCommand, addYesOption } from '../command.ts';
import { confirm } from '../confirm.ts';
import { type Context, withContext } from '../context.ts';
import { type OutputOptions, printRecord } from '../output.ts';
import { Refusal } from '../refusal.ts';

interface GrantOptions extends OutputOptions {
  reference: string;
  usd?: bigint;
}

const referenceLengthMax = 128;

/** `svc credits …` (CONTRACT 9). */
export function addCreditsCommands(credits: Command): void {
  addCommand(credits, 'grant', {
    does: 'grant credits, once for each reference',
    examples: ['svc credits grant tnt_… 5000 --reference INV-2026-117 --usd 450'],
  })
    .argument('<tenant>', 'its id, tnt_…', idArgument('tnt'))
    .argument('<credits>', 'the number of credits', creditsArgument)
    .requiredOption(
      '--reference <reference>',
      'the reference of the payment; a second grant with it grants nothing more',
    )
    .option('--usd <amount>', 'the amount paid in USD', creditsArgument)
    .action((tenantId: string, creditsMicros: bigint, options: GrantOptions) =>
      withContext((context) => grant(context, { tenantId, creditsMicros, options })),
    );
  const reversal = addCommand(credits, 'reverse', {
    does: 'reverse a purchase if its credits are still available; repeating it changes nothing',
    examples: ['svc credits reverse pur_…', 'svc credits reverse pur_… --yes'],
  });
  addYesOption(reversal)
    .argument('<purchase>', 'its id, pur_…', idArgument('pur'))
    .action((purchaseId: string, options: OutputOptions) =>
      withContext((context) => reverse(context, purchaseId, options)),
    );
  addCommand(credits, 'pay-rebate', {
    does: 'pay the accrued rebates of a tenant into its balance',
    examples: ['svc credits pay-rebate tnt_…'],
  })
    .argument('<tenant>', 'its id, tnt_…', idArgument('tnt'))
    .action((tenantId: string, options: OutputOptions) =>
      withContext((context) => rebate(context, tenantId, options)),
    );
  addCommand(credits, 'balance', {
    does: 'show the balance of a tenant',
    examples: ['svc credits balance tnt_… --json'],
  })
    .argument('<tenant>', 'its id, tnt_…', idArgument('tnt'))
    .action((tenantId: string, options: OutputOptions) =>
      withContext((context) => balance(context, tenantId, options)),
    );
}

async function grant(
  { store, by }: Context,
  { tenantId, creditsMicros, options }: GrantRequest,
): Promise<void> {
  if (creditsMicros === 0n) throw new Refusal('The grant must be more than 0 credits.');
  if (options.reference === '' || options.reference.length > referenceLengthMax) {
    throw new Refusal(`The reference must have 1 to ${referenceLengthMax} characters.`);
  }
  const purchase = {
    purchaseId: newId(),
    tenantId,
    creditsMicros,
    reference: options.reference,
    usdMicros: options.usd ?? null,
    note: null,
  };
  const outcome = await grantCredits(store, purchase, by);
  switch (outcome.kind) {
    case 'granted':
    case 'repeated':
      printRecord(
        {
          purchaseId: toWireId('pur', outcome.purchaseId),
          tenantId: toWireId('tnt', tenantId),
          credits: creditsToNumber(creditsMicros),
          balance: { after: creditsToNumber(outcome.availableAfterMicros) },
          ...(outcome.kind === 'repeated' ? { idempotent: true } : {}),
        },
        options,
      );
      return;
    case 'reference_conflict':
      throw new Refusal(
        'An earlier grant has this reference. It differs in tenant, credits, USD amount or note. Use a new reference for a new grant.',
      );
    case 'unknown_tenant':
      throw new Refusal('There is no such tenant. Run `svc tenant list` to see the ids.');
    case 'balance_too_large':
      throw new Refusal(
        'The balance would exceed 999999999.999999 credits. Try again when the balance is lower.',
      );
  }
}

interface GrantRequest {
  tenantId: string;
  creditsMicros: bigint;
  options: GrantOptions;
}

async function reverse(
  { store, by }: Context,
  purchaseId: string,
  options: OutputOptions,
): Promise<void> {
  await confirm(`Reverse purchase ${toWireId('pur', purchaseId)}?`, options);
  const outcome = await reversePurchase(store, purchaseId, by);
  switch (outcome.kind) {
    case 'reversed':
    case 'repeated':
      printRecord(
        {
          purchaseId: toWireId('pur', purchaseId),
          tenantId: toWireId('tnt', outcome.tenantId),
          credits: creditsToNumber(outcome.creditsMicros),
          ...(outcome.kind === 'repeated' ? { idempotent: true } : {}),
        },
        options,
      );
      return;
    case 'unknown_purchase':
      throw new Refusal(
        'There is no such purchase. Check the purchaseId in the answer to the grant.',
      );
    case 'not_available':
      throw new Refusal(
        `Nothing was reversed. Only ${formatCredits(outcome.availableMicros)} of the purchase's ${formatCredits(outcome.creditsMicros)} credits are available. The rest is spent or held.`,
      );
  }
}

async function rebate(
  { store, by }: Context,
  tenantId: string,
  options: OutputOptions,
): Promise<void> {
  const outcome = await payRebate(store, tenantId, by);
  switch (outcome.kind) {
    case 'paid':
      printRecord(
        {
          tenantId: toWireId('tnt', tenantId),
          paid: creditsToNumber(outcome.paidMicros),
          balance: { after: creditsToNumber(outcome.availableAfterMicros) },
        },
        options,
      );
      return;
    case 'nothing_accrued':
      throw new Refusal('The tenant has no accrued rebate to pay.');
    case 'unknown_tenant':
      throw new Refusal('There is no such tenant. Run `svc tenant list` to see the ids.');
    case 'balance_too_large':
      throw new Refusal(
        'The balance would exceed 999999999.999999 credits. Try again when the balance is lower.',
      );
  }
}

async function balance(
  { store }: Context,
  tenantId: string,
  options: OutputOptions,
): Promise<void> {
  const [figures, card] = await Promise.all([
    readBalance(store, tenantId),
    currentRateCard(store, tenantId),
  ]);
  if (figures === null)
    throw new Refusal('There is no such tenant. Run `svc tenant list` to see the ids.');
  if (card === null) throw new Refusal('There is no rate card. Run `svc migrate`.');
  printRecord(balanceAnswer(figures, card.usdPerCreditMicros), options);
}
