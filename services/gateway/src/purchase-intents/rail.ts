import {
  cannotStart,
  type Clock,
  type Logger,
  railRefusedStatus,
  solanaRailOf,
  type SolanaRail,
} from '@svc/runtime';
import { readIntentStatuses, type Store } from '@svc/store';
import type { GatewayConfig } from '../config.ts';
import { createIntentWaiters, type IntentWaiters } from './waiters.ts';

/** The Solana rail of a gateway (CONTRACT 8). */
export interface GatewayRail extends SolanaRail {
  /** The associated token account of the recipient. */
  readonly tokenAccount: string;
  readonly newReference: () => string;
  readonly waiters: IntentWaiters;
}

/**
 * Returns null, without loading the Solana library, if the rail is off. Throws `CannotStart` with
 * `railRefusedStatus` if a variable that the rail requires is missing or malformed.
 */
export async function openRail(
  config: GatewayConfig,
  {
    store,
    logger,
    clock,
  }: { readonly store: Store; readonly logger: Logger; readonly clock: Clock },
): Promise<GatewayRail | null> {
  const rail = solanaRailOf(config);
  if (rail === null) return null;
  const { isSolanaAddress, newReference, tokenAccountOf } = await import('@svc/solana');
  const addresses = { SOLANA_RECIPIENT: rail.recipient, SOLANA_USDC_MINT: rail.mint };
  for (const [name, address] of Object.entries(addresses)) {
    if (!isSolanaAddress(address)) {
      cannotStart(
        `${name} is not a Solana address. Set it to an address in Base58.`,
        railRefusedStatus,
      );
    }
  }
  const waiters = createIntentWaiters({
    readStatuses: (references) => readIntentStatuses(store, references),
    monotonicMs: () => clock.monotonicMs(),
    logger,
  });
  const tokenAccount = await tokenAccountOf(rail.recipient, rail.mint);
  return { ...rail, tokenAccount, newReference, waiters };
}
