import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { address, getBase64Decoder } from '@solana/kit';
import type { ChainTransaction, LocalChain, TokenBalance } from './local-chain.ts';

/** A test may change the faults while the server runs. */
interface RpcFaults {
  /** If not null, the server answers every call with this HTTP status, unless `hangs` is true. */
  status: number | null;
  /** The server hides this many of the newest transactions, like a server that lags behind. */
  lag: number;
  /** The most entries of a list, even if the call asks for more. Null: the call's limit applies. */
  listMax: number | null;
  readonly hidden: Set<string>;
  readonly notFound: Set<string>;
  /**
   * If true, the server shows unfinalized transactions even to a call that asks for `finalized`
   * ones.
   */
  ignoresCommitment: boolean;
  shufflesLists: boolean;
  hangs: boolean;
  genesisHash: string;
  rewrite: ((method: string, result: unknown) => unknown) | null;
}

interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

export type RpcServer = Awaited<ReturnType<typeof startRpcServer>>;

export async function startRpcServer(chain: LocalChain) {
  const faults: RpcFaults = {
    status: null,
    lag: 0,
    listMax: null,
    hidden: new Set(),
    notFound: new Set(),
    ignoresCommitment: false,
    shufflesLists: false,
    hangs: false,
    genesisHash: 'GH7ome3EiwEr7tu9JuTh2dpYWBJK3z69Xm1ZE3MEE6JC',
    rewrite: null,
  };
  const calls: RpcCall[] = [];
  const server = createServer((request, response) => void serve(request, response));

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const call: RpcCall & { id: unknown } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    calls.push({ method: call.method, params: call.params ?? [] });
    if (faults.hangs) return;
    if (faults.status !== null) {
      response.writeHead(faults.status, { 'content-type': 'text/plain' }).end('try later');
      return;
    }
    const answer = answerOf(chain, faults, call);
    const result =
      'result' in answer && faults.rewrite !== null
        ? { result: faults.rewrite(call.method, answer.result) }
        : answer;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: call.id, ...result }, writeBigInt));
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${bound.port}`,
    faults,
    calls,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function writeBigInt(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

type Answer = { result: unknown } | { error: { code: number; message: string } };

function answerOf(chain: LocalChain, faults: RpcFaults, { method, params }: RpcCall): Answer {
  const [first, options] = params;
  const text = String(first);
  const context = { slot: chain.transactions.at(-1)?.slot ?? 1 };
  switch (method) {
    case 'getGenesisHash':
      return { result: faults.genesisHash };
    case 'getSlot':
      return { result: context.slot };
    case 'getLatestBlockhash':
      return {
        result: {
          context,
          value: { blockhash: chain.vm.latestBlockhash(), lastValidBlockHeight: 1e9 },
        },
      };
    case 'sendTransaction':
      return { result: chain.send(text) };
    case 'getAccountInfo':
      return { result: { context, value: accountOf(chain, text) } };
    case 'getSignaturesForAddress':
      return { result: listOf(chain, faults, text, optionsOf(options)) };
    case 'getTransaction':
      return transactionAnswer(chain, faults, text, optionsOf(options));
    default:
      return { error: { code: -32_601, message: 'Method not found' } };
  }
}

interface CallOptions {
  readonly commitment?: string;
  readonly limit?: number;
  readonly before?: string;
  readonly until?: string;
  readonly maxSupportedTransactionVersion?: number;
}

function optionsOf(value: unknown): CallOptions {
  return typeof value === 'object' && value !== null ? value : {};
}

function accountOf({ vm }: LocalChain, key: string): object | null {
  const account = vm.getAccount(address(key));
  if (!account.exists) return null;
  return {
    data: [getBase64Decoder().decode(account.data), 'base64'],
    executable: account.executable,
    lamports: account.lamports,
    owner: account.programAddress,
    rentEpoch: 0,
    space: account.data.length,
  };
}

function isVisible(
  chain: LocalChain,
  faults: RpcFaults,
  transaction: ChainTransaction,
  commitment = 'finalized',
): boolean {
  const newest = chain.transactions.at(-1 - faults.lag);
  if (newest === undefined || transaction.slot > newest.slot) return false;
  return faults.ignoresCommitment || commitment !== 'finalized' || transaction.isFinalized;
}

function listOf(chain: LocalChain, faults: RpcFaults, key: string, options: CallOptions): object[] {
  const { limit = 1_000, before, until, commitment } = options;
  const newestFirst = chain
    .namedBy(key)
    .filter((one) => isVisible(chain, faults, one, commitment) && !faults.hidden.has(one.signature))
    .toReversed();
  const start = newestFirst.findIndex(({ signature }) => signature === before) + 1;
  const end = newestFirst.findIndex(({ signature }) => signature === until);
  const page = newestFirst
    .slice(
      before !== undefined && start === 0 ? newestFirst.length : start,
      end === -1 ? undefined : end,
    )
    .slice(0, Math.min(limit, faults.listMax ?? limit))
    .map(({ signature, slot, err, blockTime, isFinalized }) => ({
      signature,
      slot,
      err,
      memo: null,
      blockTime,
      confirmationStatus: isFinalized ? 'finalized' : 'confirmed',
    }));
  return faults.shufflesLists
    ? page.toSorted((a, b) => a.signature.localeCompare(b.signature))
    : page;
}

const unsupportedVersion = -32_015;

function transactionAnswer(
  chain: LocalChain,
  faults: RpcFaults,
  signature: string,
  { maxSupportedTransactionVersion = -1, commitment }: CallOptions,
): Answer {
  const found = chain.find(signature);
  if (
    found === undefined ||
    faults.notFound.has(signature) ||
    !isVisible(chain, faults, found, commitment)
  ) {
    return { result: null };
  }
  if (found.version !== 'legacy' && found.version > maxSupportedTransactionVersion) {
    const message = `Transaction version (${found.version}) is not supported by the requesting client`;
    return { error: { code: unsupportedVersion, message } };
  }
  return {
    result: {
      slot: found.slot,
      blockTime: found.blockTime,
      version: found.version,
      meta: {
        err: found.err,
        fee: 5_000,
        preBalances: [],
        postBalances: [],
        innerInstructions: [],
        logMessages: [],
        preTokenBalances: found.before.map(balanceJson),
        postTokenBalances: found.after.map(balanceJson),
        loadedAddresses: { writable: found.loadedWritable, readonly: found.loadedReadonly },
        computeUnitsConsumed: 1,
        rewards: [],
      },
      transaction: {
        signatures: [found.signature],
        message: { accountKeys: found.accountKeys, instructions: [], recentBlockhash: 'x' },
      },
    },
  };
}

function balanceJson({ amount, ...balance }: TokenBalance): object {
  const uiAmount = Number(amount) / 1e6;
  return {
    ...balance,
    uiTokenAmount: {
      amount: String(amount),
      decimals: 6,
      uiAmount,
      uiAmountString: String(uiAmount),
    },
  };
}
