import { getAddMemoInstruction } from '@solana-program/memo';
import {
  findAssociatedTokenPda,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token';
import {
  AccountRole,
  type Address,
  address,
  appendTransactionMessageInstructions,
  type Base64EncodedWireTransaction,
  type Blockhash,
  compressTransactionMessageUsingAddressLookupTables,
  createSolanaRpc,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import type { LocalChain } from './local-chain.ts';

export interface PayRequest {
  readonly recipient: string;
  readonly mint: string;
  /** The amount in the smallest unit of the mint. */
  readonly amount: bigint;
  readonly references: readonly string[];
}

/** Reads the URL of a purchase intent (`solanaPayUrl`). The mint must have six decimals. */
export function readPayUrl(url: string): PayRequest {
  const parsed = new URL(url);
  const [whole = '0', fraction = ''] = (parsed.searchParams.get('amount') ?? '').split('.');
  return {
    recipient: parsed.pathname,
    mint: parsed.searchParams.get('spl-token') ?? '',
    amount: BigInt(whole + fraction.padEnd(6, '0')),
    references: parsed.searchParams.getAll('reference'),
  };
}

export type Payer = Awaited<ReturnType<typeof createPayer>>;

export async function createPayer(
  chain: LocalChain,
  mint: string,
  amount = 10n ** 15n,
  program: Address = TOKEN_PROGRAM_ADDRESS,
) {
  const signer = await generateKeyPairSigner();
  chain.airdrop(signer.address);
  const source = await tokenAccountOf(signer.address, mint, program);
  chain.createTokenAccount(source, { mint: address(mint), owner: signer.address, amount, program });
  return { signer, source, mint: address(mint), program };
}

export async function tokenAccountOf(
  owner: string,
  mint: string,
  tokenProgram: Address = TOKEN_PROGRAM_ADDRESS,
): Promise<Address> {
  const [account] = await findAssociatedTokenPda({
    owner: address(owner),
    mint: address(mint),
    tokenProgram,
  });
  return account;
}

/** The address at which LiteSVM, the VM of the local chain, has the memo program. */
const memoProgram = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
let nonce = 0;

/** Returns an instruction with a new number in its text, so its transaction has a new signature. */
export function memo(text = ''): Instruction {
  nonce += 1;
  return getAddMemoInstruction({ memo: `${text}${nonce}` }, { programAddress: memoProgram });
}

/** A transfer that names the references as accounts that are neither signers nor writable. */
export function transfer(
  payer: Payer,
  destination: Address,
  amount: bigint,
  references: readonly string[],
): Instruction {
  const instruction = getTransferCheckedInstruction(
    {
      source: payer.source,
      mint: payer.mint,
      destination,
      authority: payer.signer,
      amount,
      decimals: 6,
    },
    { programAddress: payer.program },
  );
  const named = references.map((key) => ({ address: address(key), role: AccountRole.READONLY }));
  return { ...instruction, accounts: [...instruction.accounts, ...named] };
}

export interface SendOptions {
  readonly version?: 'legacy' | 0;
  /**
   * An address lookup table. A transaction of version 0 names an address of the table by its index.
   * A legacy transaction does not use the table.
   */
  readonly table?: { readonly address: Address; readonly addresses: readonly Address[] };
}

async function sign(
  signer: KeyPairSigner,
  blockhash: Blockhash,
  instructions: readonly Instruction[],
  { version = 0, table }: SendOptions = {},
): Promise<Base64EncodedWireTransaction> {
  const lifetime = { blockhash, lastValidBlockHeight: 10n ** 9n };
  if (version === 'legacy') {
    const legacy = pipe(
      createTransactionMessage({ version: 'legacy' }),
      (message) => setTransactionMessageFeePayerSigner(signer, message),
      (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
      (message) => appendTransactionMessageInstructions(instructions, message),
    );
    return getBase64EncodedWireTransaction(await signTransactionMessageWithSigners(legacy));
  }
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayerSigner(signer, empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
    (timed) => appendTransactionMessageInstructions(instructions, timed),
  );
  const compressed =
    table === undefined
      ? message
      : compressTransactionMessageUsingAddressLookupTables(message, {
          [table.address]: [...table.addresses],
        });
  return getBase64EncodedWireTransaction(await signTransactionMessageWithSigners(compressed));
}

export async function send(
  rpcUrl: string,
  payer: Payer,
  instructions: readonly Instruction[],
  options: SendOptions = {},
): Promise<string> {
  const rpc = createSolanaRpc(rpcUrl);
  const { value } = await rpc.getLatestBlockhash().send();
  const wire = await sign(payer.signer, value.blockhash, instructions, options);
  return await rpc.sendTransaction(wire, { encoding: 'base64', skipPreflight: true }).send();
}
