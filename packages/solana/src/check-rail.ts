import {
  AccountState,
  getMintDecoder,
  getMintSize,
  getTokenDecoder,
  getTokenSize,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token';
import { isSolanaAddress, tokenAccountOf } from './addresses.ts';
import { readAccount, readGenesisHash, type Unanswered } from './methods.ts';
import type { Rpc } from './rpc.ts';

/** The environment and the settings of the Solana rail that `checkRail` checks (CONTRACT 8). */
export interface RailTerms {
  readonly environment: 'sandbox' | 'production';
  readonly recipient: string;
  readonly mint: string;
}

export type RailVariable = 'SOLANA_RPC_URL' | 'SOLANA_RECIPIENT' | 'SOLANA_USDC_MINT';

export type RailCheck =
  | { readonly kind: 'sound' }
  /** `sentence` names the variable and says what is wrong. */
  | { readonly kind: 'refused'; readonly variable: RailVariable; readonly sentence: string }
  /** The RPC server gave no usable answer, so the check is incomplete. */
  | { readonly kind: 'unreachable'; readonly reason: string };

export const mainnetGenesisHash = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const token2022Program = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
const usdcDecimals = 6;

/**
 * Checks the network of the RPC server by its genesis hash. Production must use mainnet, and a
 * sandbox must not.
 */
export async function checkGenesis(rpc: Rpc, { environment }: RailTerms): Promise<RailCheck> {
  const reading = await readGenesisHash(rpc);
  if (reading.kind !== 'read') return unreachable(reading);
  if ((reading.hash === mainnetGenesisHash) === (environment === 'production')) return sound;
  return refused(
    'SOLANA_RPC_URL',
    environment === 'production'
      ? 'is not a server of mainnet, which production needs'
      : 'is a server of mainnet, which a sandbox must not use',
  );
}

/**
 * Checks the network, the mint, the recipient and its token account. Returns the first result that
 * is not `sound`, or `sound` if every check succeeds.
 */
export async function checkRail(rpc: Rpc, terms: RailTerms): Promise<RailCheck> {
  const { recipient, mint } = terms;
  if (!isSolanaAddress(recipient)) return refused('SOLANA_RECIPIENT', 'is not a Solana address');
  if (!isSolanaAddress(mint)) return refused('SOLANA_USDC_MINT', 'is not a Solana address');
  const genesis = await checkGenesis(rpc, terms);
  if (genesis.kind !== 'sound') return genesis;
  const checks = [checkMint, checkRecipient, checkTokenAccount];
  for (const check of checks) {
    const outcome = await check(rpc, terms);
    if (outcome.kind !== 'sound') return outcome;
  }
  return sound;
}

const sound = { kind: 'sound' } as const;

function refused(variable: RailVariable, what: string): RailCheck {
  return { kind: 'refused', variable, sentence: `${variable} ${what}.` };
}

function unreachable({ reason }: Unanswered): RailCheck {
  return { kind: 'unreachable', reason };
}

async function checkMint(rpc: Rpc, { mint }: RailTerms): Promise<RailCheck> {
  const reading = await readAccount(rpc, mint);
  if (reading.kind !== 'read') return unreachable(reading);
  const { account } = reading;
  if (account === null) {
    return refused(
      'SOLANA_USDC_MINT',
      'is not the address of an account on the network of SOLANA_RPC_URL',
    );
  }
  if (account.owner !== TOKEN_PROGRAM_ADDRESS || account.data.length !== getMintSize()) {
    return refused('SOLANA_USDC_MINT', 'is not a mint of the SPL Token program');
  }
  const { decimals, isInitialized } = getMintDecoder().decode(account.data);
  if (!isInitialized) return refused('SOLANA_USDC_MINT', 'is a mint that is not initialized');
  if (decimals === usdcDecimals) return sound;
  return refused('SOLANA_USDC_MINT', `has ${decimals} decimals instead of ${usdcDecimals}`);
}

async function checkRecipient(rpc: Rpc, { recipient }: RailTerms): Promise<RailCheck> {
  const reading = await readAccount(rpc, recipient);
  if (reading.kind !== 'read') return unreachable(reading);
  const owner = reading.account?.owner;
  if (owner !== TOKEN_PROGRAM_ADDRESS && owner !== token2022Program) return sound;
  return refused(
    'SOLANA_RECIPIENT',
    'is an account of the token program, not a wallet; set it to the address of a wallet',
  );
}

async function checkTokenAccount(rpc: Rpc, { recipient, mint }: RailTerms): Promise<RailCheck> {
  const reading = await readAccount(rpc, await tokenAccountOf(recipient, mint));
  if (reading.kind !== 'read') return unreachable(reading);
  const { account } = reading;
  if (account?.owner !== TOKEN_PROGRAM_ADDRESS || account.data.length !== getTokenSize()) {
    return refused(
      'SOLANA_RECIPIENT',
      'has no associated token account for SOLANA_USDC_MINT; create this account',
    );
  }
  const token = getTokenDecoder().decode(account.data);
  if (
    token.mint === mint &&
    token.owner === recipient &&
    token.state === AccountState.Initialized
  ) {
    return sound;
  }
  return refused(
    'SOLANA_RECIPIENT',
    'has an associated token account that is frozen, or that belongs to another owner or mint',
  );
}
