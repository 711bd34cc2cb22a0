import { MAX_SUPPORTED_TRANSACTION_VERSION } from '@solana/kit';
import { isRecord, isSlot, readSolanaTransaction, type TransactionReading } from '@svc/domain';
import type { Rpc, RpcOutcome } from './rpc.ts';

export type Unanswered = Exclude<RpcOutcome, { kind: 'answered' }>;
/**
 * The commitment that is requested for signatures, transactions and accounts. It is always sent,
 * because the default of a server may differ.
 */
const finalized = 'finalized';

export interface ListedSignature {
  readonly signature: string;
  readonly slot: number;
  readonly hasFailed: boolean;
}

export type SignatureList =
  | {
      readonly kind: 'listed';
      readonly entries: readonly ListedSignature[];
      /** The oldest signature of the page, also if it is not finalized. Null for an empty page. */
      readonly oldest: string | null;
    }
  | Unanswered;

export const signaturesPerPageMax = 1_000;
const signaturePattern = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;

/**
 * Lists the finalized transactions that name an address, newest first. A server may return more
 * than `limit` entries.
 */
export async function listSignatures(
  rpc: Rpc,
  address: string,
  /** If `before` is given, lists only transactions older than the one with this signature. */
  { limit, before }: { readonly limit: number; readonly before?: string },
): Promise<SignatureList> {
  const options = { commitment: finalized, limit, ...(before === undefined ? {} : { before }) };
  const outcome = await rpc.call('getSignaturesForAddress', [address, options]);
  if (outcome.kind !== 'answered') return outcome;
  const list = outcome.result;
  if (!Array.isArray(list) || list.length > signaturesPerPageMax) {
    return { kind: 'failed', reason: 'the list of signatures is malformed or too long' };
  }
  const entries: ListedSignature[] = [];
  let oldest: string | null = null;
  for (const one of list as readonly unknown[]) {
    if (!isRecord(one)) return malformedEntry;
    const { signature, slot, err = null, confirmationStatus = null } = one;
    if (typeof signature !== 'string' || !signaturePattern.test(signature)) return malformedEntry;
    if (!isSlot(slot)) return malformedEntry;
    oldest = signature;
    // A server that ignores the requested commitment also lists transactions that the chain may
    // still drop. Those are left out.
    if (confirmationStatus !== null && confirmationStatus !== finalized) continue;
    entries.push({ signature, slot, hasFailed: err !== null });
  }
  return { kind: 'listed', entries, oldest };
}

const malformedEntry = {
  kind: 'failed',
  reason: 'an entry of the list of signatures is malformed',
} as const;

/**
 * Reads a finalized transaction: `not_found` if the server does not have it, `unreadable` if the
 * server refuses the call or the transaction is malformed.
 */
export async function readTransaction(
  rpc: Rpc,
  signature: string,
): Promise<TransactionReading | Unanswered> {
  const outcome = await rpc.call('getTransaction', [
    signature,
    {
      commitment: finalized,
      encoding: 'json',
      maxSupportedTransactionVersion: MAX_SUPPORTED_TRANSACTION_VERSION,
    },
  ]);
  if (outcome.kind === 'refused') return { kind: 'unreadable', reason: outcome.reason };
  if (outcome.kind !== 'answered') return outcome;
  return readSolanaTransaction(outcome.result, signature);
}

export type GenesisReading = { readonly kind: 'read'; readonly hash: string } | Unanswered;

export async function readGenesisHash(rpc: Rpc): Promise<GenesisReading> {
  const outcome = await rpc.call('getGenesisHash', []);
  if (outcome.kind !== 'answered') return outcome;
  return typeof outcome.result === 'string'
    ? { kind: 'read', hash: outcome.result }
    : { kind: 'failed', reason: 'the genesis hash is not a string' };
}

export type SlotReading = { readonly kind: 'read'; readonly slot: number } | Unanswered;

/** Reads the newest finalized slot of the chain. */
export async function readSlot(rpc: Rpc): Promise<SlotReading> {
  const outcome = await rpc.call('getSlot', [{ commitment: finalized }]);
  if (outcome.kind !== 'answered') return outcome;
  const slot = outcome.result;
  return isSlot(slot)
    ? { kind: 'read', slot }
    : { kind: 'failed', reason: 'the answer of `getSlot` is not a slot' };
}

export type AccountReading =
  | { readonly kind: 'read'; readonly account: SolanaAccount | null }
  | Unanswered;

export interface SolanaAccount {
  readonly owner: string;
  readonly data: Uint8Array;
}

export async function readAccount(rpc: Rpc, address: string): Promise<AccountReading> {
  const outcome = await rpc.call('getAccountInfo', [
    address,
    { commitment: finalized, encoding: 'base64' },
  ]);
  if (outcome.kind !== 'answered') return outcome;
  const value = isRecord(outcome.result) ? outcome.result['value'] : undefined;
  if (value === null) return { kind: 'read', account: null };
  const data: unknown =
    isRecord(value) && Array.isArray(value['data']) ? value['data'][0] : undefined;
  if (!isRecord(value) || typeof value['owner'] !== 'string' || typeof data !== 'string') {
    return { kind: 'failed', reason: 'the answer about an account is malformed' };
  }
  const bytes = Buffer.from(data, 'base64');
  return { kind: 'read', account: { owner: value['owner'], data: bytes } };
}
