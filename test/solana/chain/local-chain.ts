import { createHash } from 'node:crypto';
import {
  AccountState,
  getMintEncoder,
  getTokenDecoder,
  getTokenEncoder,
  getTokenSize,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token';
import {
  type Address,
  address,
  getAddressDecoder,
  getAddressEncoder,
  getBase58Decoder,
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  lamports,
} from '@solana/kit';
import { FailedTransactionMetadata, LiteSVM } from 'litesvm';

export interface ChainTransaction {
  readonly signature: string;
  readonly slot: number;
  readonly blockTime: number;
  readonly version: 'legacy' | 0 | 1;
  readonly err: object | null;
  readonly accountKeys: readonly string[];
  readonly loadedWritable: readonly string[];
  readonly loadedReadonly: readonly string[];
  readonly before: readonly TokenBalance[];
  readonly after: readonly TokenBalance[];
  isFinalized: boolean;
}

export interface TokenBalance {
  readonly accountIndex: number;
  readonly mint: string;
  readonly owner: string;
  readonly programId: string;
  readonly amount: bigint;
}

export const token2022Program = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');
const lookupTableProgram = address('AddressLookupTab1e1111111111111111111111111');
const lookupTableHeaderBytes = 56;
const rentLamports = lamports(10_000_000n);

/** A chain of one validator on the Solana VM. Every transaction has its own slot. */
export class LocalChain {
  readonly vm = new LiteSVM().withBlockhashCheck(false).withTransactionHistory(0n);
  readonly transactions: ChainTransaction[] = [];
  readonly #bySignature = new Map<string, ChainTransaction>();
  readonly #byAddress = new Map<string, ChainTransaction[]>();
  #slot = 1_000;
  #finalizesAtOnce = true;

  /** If `isOn` is false, later transactions of `send` stay `confirmed` until `finalize`. */
  finalizeAtOnce(isOn: boolean): void {
    this.#finalizesAtOnce = isOn;
  }

  finalize(): void {
    for (const transaction of this.transactions) transaction.isFinalized = true;
  }

  /**
   * Removes all transactions that are not finalized, as if the cluster gave up their fork. The
   * balances of accounts stay as they are.
   */
  dropUnfinalized(): void {
    for (const dropped of this.transactions.filter(({ isFinalized }) => !isFinalized)) {
      this.transactions.splice(this.transactions.indexOf(dropped), 1);
      this.#bySignature.delete(dropped.signature);
      for (const list of this.#byAddress.values()) {
        const at = list.indexOf(dropped);
        if (at !== -1) list.splice(at, 1);
      }
    }
  }

  find(signature: string): ChainTransaction | undefined {
    return this.#bySignature.get(signature);
  }

  /** The transactions that name an address, the oldest first. */
  namedBy(key: string): readonly ChainTransaction[] {
    return this.#byAddress.get(key) ?? [];
  }

  airdrop(to: Address): void {
    this.vm.airdrop(to, lamports(1_000_000_000_000n));
  }

  createMint(
    mint: Address,
    authority: Address,
    decimals = 6,
    program: Address = TOKEN_PROGRAM_ADDRESS,
  ): void {
    const data = getMintEncoder().encode({
      mintAuthority: authority,
      supply: 0n,
      decimals,
      isInitialized: true,
      freezeAuthority: null,
    });
    this.#setAccount(mint, program, new Uint8Array(data));
  }

  createTokenAccount(
    target: Address,
    { mint, owner, amount = 0n, program = TOKEN_PROGRAM_ADDRESS }: NewTokenAccount,
  ): void {
    const data = getTokenEncoder().encode({
      mint,
      owner,
      amount,
      delegate: null,
      state: AccountState.Initialized,
      isNative: null,
      delegatedAmount: 0n,
      closeAuthority: null,
    });
    this.#setAccount(target, program, new Uint8Array(data));
  }

  createLookupTable(table: Address, addresses: readonly Address[]): void {
    const header = new Uint8Array(lookupTableHeaderBytes);
    // These bytes say that the lookup table is active for ever.
    header.set([1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]);
    const keys = addresses.map((key) => new Uint8Array(getAddressEncoder().encode(key)));
    this.#setAccount(table, lookupTableProgram, Buffer.concat([header, ...keys]));
  }

  /** Processes a transaction in wire format (base64). Returns its signature. */
  send(wire: string): string {
    const transaction = getTransactionDecoder().decode(getBase64Encoder().encode(wire));
    const compiled = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
    const tables = 'addressTableLookups' in compiled ? (compiled.addressTableLookups ?? []) : [];
    const load = (which: 'writableIndexes' | 'readonlyIndexes') =>
      tables.flatMap((table) => {
        const all = this.#tableAddresses(table.lookupTableAddress);
        return table[which].map((index) => all[index] ?? '');
      });
    const accountKeys: string[] = [...compiled.staticAccounts];
    const [loadedWritable, loadedReadonly] = [load('writableIndexes'), load('readonlyIndexes')];
    const keys = [...accountKeys, ...loadedWritable, ...loadedReadonly];
    this.#slot += 1;
    const before = this.#balancesOf(keys);
    const hasFailed = this.vm.sendTransaction(transaction) instanceof FailedTransactionMetadata;
    const [first] = Object.values(transaction.signatures);
    if (first === null || first === undefined) throw new Error('the transaction is not signed');
    const signature = getBase58Decoder().decode(first);
    this.#record(keys, {
      signature,
      slot: this.#slot,
      blockTime: Math.floor(Date.now() / 1000),
      version: compiled.version,
      err: hasFailed ? { InstructionError: [0, { Custom: 1 }] } : null,
      accountKeys,
      loadedWritable,
      loadedReadonly,
      before,
      after: this.#balancesOf(keys),
      isFinalized: this.#finalizesAtOnce,
    });
    return signature;
  }

  /** Adds `count` failed transactions that name the address `key`, like spam from a stranger. */
  spam(key: string, count: number): void {
    for (let number = 0; number < count; number += 1) {
      this.#slot += 1;
      const bytes = createHash('sha512').update(`${key} ${this.#slot}`).digest();
      this.#record([key], {
        signature: getBase58Decoder().decode(bytes),
        slot: this.#slot,
        blockTime: Math.floor(Date.now() / 1000),
        version: 0,
        err: { InstructionError: [0, { Custom: 1 }] },
        accountKeys: [key],
        loadedWritable: [],
        loadedReadonly: [],
        before: [],
        after: [],
        isFinalized: true,
      });
    }
  }

  #record(keys: readonly string[], transaction: ChainTransaction): void {
    this.transactions.push(transaction);
    this.#bySignature.set(transaction.signature, transaction);
    for (const key of new Set(keys)) {
      const list = this.#byAddress.get(key) ?? [];
      this.#byAddress.set(key, list);
      list.push(transaction);
    }
  }

  #setAccount(target: Address, programAddress: Address, data: Uint8Array): void {
    const space = BigInt(data.length);
    const account = { address: target, programAddress, data, space, lamports: rentLamports };
    this.vm.setAccount({ ...account, executable: false });
  }

  #tableAddresses(table: Address): string[] {
    const account = this.vm.getAccount(table);
    if (!account.exists) return [];
    const bytes = account.data.slice(lookupTableHeaderBytes);
    return Array.from({ length: bytes.length / 32 }, (_, at) =>
      getAddressDecoder().decode(bytes.slice(at * 32, at * 32 + 32)),
    );
  }

  #balancesOf(keys: readonly string[]): TokenBalance[] {
    return keys.flatMap((key, accountIndex) => {
      const account = this.vm.getAccount(address(key));
      if (!account.exists) return [];
      const programId: string = account.programAddress;
      const isToken = programId === TOKEN_PROGRAM_ADDRESS || programId === token2022Program;
      if (!isToken || account.data.length < getTokenSize()) return [];
      const bytes = account.data.slice(0, getTokenSize());
      const { mint, owner, amount } = getTokenDecoder().decode(bytes);
      return [{ accountIndex, mint, owner, programId, amount }];
    });
  }
}

interface NewTokenAccount {
  readonly mint: Address;
  readonly owner: Address;
  readonly amount?: bigint;
  readonly program?: Address;
}
