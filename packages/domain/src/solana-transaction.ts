import { isRecord } from './solana-json.ts';

/** A transaction has at most 256 accounts, because its instructions name an account by one byte. */
const accountKeysMax = 256;
/** The latest time that a `Date` can hold. Postgres can store it too. */
const blockTimeSecondsMax = 8_640_000_000_000;
const u64Max = 2n ** 64n - 1n;
const amountPattern = /^(?:0|[1-9][0-9]{0,19})$/;

/**
 * The amount by which a transaction raised the balance of a token account, in the smallest units of
 * the mint.
 */
export interface TokenRise {
  readonly tokenAccount: string;
  readonly mint: string;
  readonly amount: bigint;
}

export interface SolanaTransaction {
  readonly slot: number;
  /** The Unix time of the block. Null if the server does not report it. */
  readonly blockTimeSeconds: number | null;
  /** False if the transaction failed on the chain. It then moved no tokens. */
  readonly succeeded: boolean;
  /** All accounts, including those that the transaction loaded from look-up tables. */
  readonly accountKeys: readonly string[];
  readonly rises: readonly TokenRise[];
}

export type TransactionReading =
  | { readonly kind: 'read'; readonly transaction: SolanaTransaction }
  /** The server does not have the transaction, or does not have it yet. */
  | { readonly kind: 'not_found' }
  /**
   * The answer is not as expected. The caller must read the transaction again, not skip it
   * (CONTRACT 8).
   */
  | { readonly kind: 'unreadable'; readonly reason: string };

/**
 * Reads the answer of `getTransaction` (encoding `json`) for this signature. Accepts versions
 * legacy, 0 and 1.
 */
export function readSolanaTransaction(answer: unknown, signature: string): TransactionReading {
  if (answer === null) return { kind: 'not_found' };
  try {
    return { kind: 'read', transaction: parse(answer, signature) };
  } catch (error) {
    if (error instanceof Unreadable) return { kind: 'unreadable', reason: error.message };
    throw error;
  }
}

class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

function must(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new Unreadable(reason);
}

function parse(answer: unknown, signature: string): SolanaTransaction {
  must(isRecord(answer), 'the answer is not an object');
  const { slot, blockTime = null, meta, transaction, version = 'legacy' } = answer;
  must(
    version === 'legacy' || version === 0 || version === 1,
    'the version of the transaction is unknown',
  );
  must(isSlot(slot), 'the answer has no valid slot');
  must(
    blockTime === null || (isSlot(blockTime) && blockTime <= blockTimeSecondsMax),
    'the block time is not valid',
  );
  must(isRecord(meta), 'the member `meta` of the answer is not an object');
  must(isRecord(transaction), 'the member `transaction` of the answer is not an object');
  const { signatures, message } = transaction;
  must(
    Array.isArray(signatures) && signatures[0] === signature,
    'the first signature of the transaction is not the requested one',
  );
  must(isRecord(message), 'the member `message` of the transaction is not an object');
  must('err' in meta, 'the answer does not say whether the transaction failed');
  const accountKeys = [...keysOf(message['accountKeys']), ...loadedKeys(meta['loadedAddresses'])];
  must(accountKeys.length <= accountKeysMax, 'the transaction has too many accounts');
  const succeeded = meta['err'] === null;
  const rises = succeeded ? risesOf(meta, accountKeys) : [];
  return { slot, blockTimeSeconds: blockTime, succeeded, accountKeys, rises };
}

/** True for a whole number that is not negative and that is exact in JSON. */
export function isSlot(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function keysOf(list: unknown): string[] {
  must(
    Array.isArray(list) && list.length <= accountKeysMax,
    'the accounts are not a list, or the list is too long',
  );
  return list.map((key: unknown) => {
    // Also accepts the encoding `jsonParsed`, in which an account is an object.
    const text = isRecord(key) ? key['pubkey'] : key;
    must(typeof text === 'string', 'an account is not a string');
    return text;
  });
}

/**
 * The accounts from look-up tables, the writable ones first. The order matters, because token
 * balances name an account by its index.
 */
function loadedKeys(loaded: unknown): string[] {
  if (loaded === undefined || loaded === null) return [];
  must(isRecord(loaded), 'the loaded addresses are not an object');
  return [...keysOf(loaded['writable'] ?? []), ...keysOf(loaded['readonly'] ?? [])];
}

function risesOf(meta: Record<string, unknown>, keys: readonly string[]): TokenRise[] {
  const before = balancesOf(meta['preTokenBalances'], keys);
  const after = balancesOf(meta['postTokenBalances'], keys);
  return [...after].flatMap(([place, { tokenAccount, mint, amount }]) => {
    const rise = amount - (before.get(place)?.amount ?? 0n);
    return rise > 0n ? [{ tokenAccount, mint, amount: rise }] : [];
  });
}

function balancesOf(list: unknown, keys: readonly string[]): Map<string, TokenRise> {
  must(
    Array.isArray(list) && list.length <= accountKeysMax,
    'the token balances are not a list, or the list is too long',
  );
  const balances = new Map<string, TokenRise>();
  for (const entry of list as readonly unknown[]) {
    must(isRecord(entry) && isRecord(entry['uiTokenAmount']), 'a token balance has no amount');
    const { accountIndex, mint, uiTokenAmount } = entry;
    must(typeof accountIndex === 'number', 'a token balance has no account index');
    const tokenAccount = keys[accountIndex];
    must(
      tokenAccount !== undefined,
      'a token balance names an account that the transaction does not have',
    );
    must(typeof mint === 'string', 'a token balance has no mint');
    const place = `${accountIndex} ${mint}`;
    must(!balances.has(place), 'the answer has the same token balance twice');
    balances.set(place, { tokenAccount, mint, amount: amountOf(uiTokenAmount) });
  }
  return balances;
}

function amountOf(uiTokenAmount: unknown): bigint {
  const text = isRecord(uiTokenAmount) ? uiTokenAmount['amount'] : undefined;
  must(
    typeof text === 'string' && amountPattern.test(text),
    'a token amount is not a whole number of at most 20 digits',
  );
  const amount = BigInt(text);
  must(amount <= u64Max, 'a token amount is too large');
  return amount;
}
