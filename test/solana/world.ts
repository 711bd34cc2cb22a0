import { generateKeyPairSigner, type Address } from '@solana/kit';
import { intentAmountUsdcMicros, microsPerCredit } from '@svc/domain';
import { createOutboundHttp, type OutboundHttp } from '@svc/runtime';
import * as solana from '@svc/solana';
import { openWorkerFixture, silent } from '@svc/startup/fixture';
import {
  auditLedger,
  createPurchaseIntent,
  type PurchaseIntent,
  readPurchaseIntent,
} from '@svc/store';
import { stopDatabaseClock } from '@svc/testkit';
import { createWatcher, type Watcher } from '../../services/settlement/src/solana/watcher.ts';
import { LocalChain } from './chain/local-chain.ts';
import {
  createPayer,
  memo,
  type Payer,
  send,
  type SendOptions,
  tokenAccountOf,
  transfer,
} from './chain/payer.ts';
import { type RpcServer, startRpcServer } from './chain/rpc-server.ts';

/** The price of a credit in these tests: 0.01 USDC. */
const usdPerCreditMicros = 10_000n;
const tickStepMs = 1_500;
/** The timeout of RPC calls, shorter than the product's 8 s because a test waits for a timeout. */
const rpcTimeoutMs = 1_000;
const monotonicMs = (): number => performance.now();

type Fixture = Awaited<ReturnType<typeof openWorkerFixture>>;

interface Parts {
  readonly fixture: Fixture;
  readonly chain: LocalChain;
  readonly rpcServer: RpcServer;
  readonly payer: Payer;
  readonly recipient: Address;
  readonly mint: Address;
  readonly tokenAccount: Address;
}

/** The caller closes the world. */
export async function openSolanaWorld(): Promise<SolanaWorld> {
  const fixture = await openWorkerFixture();
  const chain = new LocalChain();
  const rpcServer = await startRpcServer(chain);
  const [owner, mintSigner] = await Promise.all([generateKeyPairSigner(), generateKeyPairSigner()]);
  const [recipient, mint] = [owner.address, mintSigner.address];
  chain.createMint(mint, recipient);
  const tokenAccount = await tokenAccountOf(recipient, mint);
  chain.createTokenAccount(tokenAccount, { mint, owner: recipient });
  const payer = await createPayer(chain, mint);
  return new SolanaWorld({ fixture, chain, rpcServer, payer, recipient, mint, tokenAccount });
}

/**
 * Postgres, Redis, a local chain with its RPC server, a payer, and a watcher whose clock the test
 * moves.
 */
export class SolanaWorld {
  readonly store;
  readonly database;
  readonly config;
  readonly chain;
  readonly rpcServer;
  readonly payer;
  readonly recipient;
  readonly mint;
  readonly tokenAccount;
  readonly watcher: Watcher;
  /** The kind of each payment that a watcher counted, in order. */
  readonly counted: string[] = [];
  readonly #fixture: Fixture;
  readonly #http: OutboundHttp;
  #nowMs = 0;

  constructor({ fixture, ...parts }: Parts) {
    this.#fixture = fixture;
    this.store = fixture.store;
    this.database = fixture.database;
    this.config = fixture.config;
    this.chain = parts.chain;
    this.rpcServer = parts.rpcServer;
    this.payer = parts.payer;
    this.recipient = parts.recipient;
    this.mint = parts.mint;
    this.tokenAccount = parts.tokenAccount;
    this.#http = createOutboundHttp({ allowPrivateNetworks: true, monotonicMs });
    this.watcher = this.watcherOf('watcher-1');
  }

  /** Creates a watcher. Its `tick` takes the lease under the name `holder`. */
  watcherOf(holder: string): Watcher {
    const { recipient, mint, tokenAccount, store } = this;
    const { url } = this.rpcServer;
    const rail = { recipient, mint, rpcUrl: url, intentMinutes: 60, graceMinutes: 1_440 };
    const budget = { take: () => Promise.resolve() };
    return createWatcher(
      {
        store,
        producer: this.#fixture.producer,
        logger: silent,
        clock: { monotonicMs: () => this.#nowMs },
        solana,
        rpc: solana.createRpc({ url, http: this.#http, budget, timeoutMs: rpcTimeoutMs }),
        rail,
        environment: 'sandbox',
        tokenAccount,
        holder,
        countPayment: (kind) => void this.counted.push(kind),
      },
      true,
    );
  }

  /**
   * Calls `watcher.tick` this many times. The clock of the watchers advances by 1.5 s before each
   * call.
   */
  async tick(times = 1, watcher = this.watcher): Promise<void> {
    for (let count = 0; count < times; count += 1) {
      this.#nowMs += tickStepMs;
      await watcher.tick();
    }
  }

  /** Moves the clock of the watchers. */
  moveClock(ms: number): void {
    this.#nowMs += ms;
  }

  /** Moves the clock of the database. */
  advance(ms: number): Promise<void> {
    return this.#fixture.advance(ms);
  }

  /** Stops the clock of the database until the next `advance`. */
  stopClock(): Promise<void> {
    return stopDatabaseClock(this.database.databaseUrl, new Date());
  }

  tenant(credits: number, webhookUrl?: string): Promise<string> {
    return this.#fixture.tenant(credits, webhookUrl);
  }

  figures(tenantId: string): Promise<{ balance: number; held: number }> {
    return this.#fixture.figures(tenantId);
  }

  async intent(
    tenantId: string,
    { credits = 500, minutes = { intent: 60, grace: 1_440 } } = {},
  ): Promise<PurchaseIntent> {
    const { recipient, mint, tokenAccount, store } = this;
    const creditsMicros = BigInt(credits) * microsPerCredit;
    const outcome = await createPurchaseIntent(store, {
      reference: solana.newReference(),
      tenantId,
      creditsMicros,
      amountUsdcMicros: intentAmountUsdcMicros(creditsMicros, usdPerCreditMicros) ?? 0n,
      usdPerCreditMicros,
      recipient,
      tokenAccount,
      mint,
      minutes,
    });
    if (outcome.kind !== 'created') throw new Error(outcome.kind);
    return outcome.intent;
  }

  /**
   * Sends `amount` micro-USDC to the recipient's token account. In the transaction, the transfer
   * stands between two memos. Returns the signature of the transaction.
   */
  async pay(amount: bigint, references: readonly string[], options?: SendOptions): Promise<string> {
    const paying = transfer(this.payer, this.tokenAccount, amount, references);
    return await send(this.rpcServer.url, this.payer, [memo(), paying, memo()], options);
  }

  async cutConnections(): Promise<void> {
    await this.database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'svc'`,
    );
  }

  flushRedis(): Promise<void> {
    return this.#fixture.redis.flush();
  }

  async read(reference: string): Promise<PurchaseIntent> {
    const intent = await readPurchaseIntent(this.store, { reference });
    if (intent === null) throw new Error(`there is no intent with the reference ${reference}`);
    return intent;
  }

  /** Throws if the ledger does not add up. */
  async closeAudited(): Promise<void> {
    const { faults } = await auditLedger(this.store);
    await this.closeAll();
    if (faults.length > 0) throw new Error(`the ledger does not add up: ${JSON.stringify(faults)}`);
  }

  async closeAll(): Promise<void> {
    this.#http.close();
    await this.rpcServer.close();
    await this.#fixture.close();
  }
}
