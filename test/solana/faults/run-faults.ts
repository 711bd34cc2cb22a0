import { newReference } from '@svc/solana';
import { auditLedger, type PurchaseIntent } from '@svc/store';
import type { SolanaWorld } from '../world.ts';

/** Returns a source of numbers from 0 to less than 1. Equal seeds give equal numbers. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Paid {
  readonly intent: PurchaseIntent | null;
  readonly signature: string;
  readonly amount: bigint;
}

export interface FaultsVerdict {
  readonly payments: number;
  readonly granted: number;
  readonly faults: Readonly<Record<string, number>>;
  /**
   * Empty if each payment is recorded once, the intents and the balances agree with the payments,
   * and the audit of the ledger finds no fault.
   */
  readonly violations: readonly string[];
}

const paymentsPerRound = 5;
/**
 * The number of payments after which a new tenant pays. The tenants change because some intents
 * stay pending, and a tenant may have at most 100 pending ones.
 */
const paymentsPerTenant = 100;
/**
 * After the last round of payments, at most this many ticks follow, without faults. They end
 * earlier if every payment is recorded.
 */
const drainTicksMax = 400;

/** Sends at least `payments` payments under faults, then compares Postgres with these payments. */
export async function runFaults(
  world: SolanaWorld,
  { payments, seed }: { readonly payments: number; readonly seed: number },
): Promise<FaultsVerdict> {
  const random = randomOf(seed);
  const tenantIds: string[] = [];
  const paid: Paid[] = [];
  const counts: Record<string, number> = {};
  let holder = 0;
  let watcher = world.watcherOf('watcher-0');
  const tick = (times: number) => world.tick(times, watcher).catch(() => undefined);
  await world.tick(2, watcher);

  while (paid.length < payments) {
    if (paid.length >= tenantIds.length * paymentsPerTenant) {
      tenantIds.push(await retried(() => world.tenant(0)));
    }
    const tenantId = tenantIds.at(-1) ?? '';
    for (let count = 0; count < paymentsPerRound; count += 1) {
      paid.push(...(await payOnce(world, tenantId, random)));
    }
    const fault = injectFault(world, random());
    counts[fault] = (counts[fault] ?? 0) + 1;
    if (fault === 'kill') {
      // A killed process does not release its lease. The database's clock advances past the end of
      // the lease, so the new watcher can take it.
      holder += 1;
      watcher = world.watcherOf(`watcher-${holder}`);
      await retried(() => world.advance(20_000));
    }
    const ticking = tick(2);
    if (fault === 'cut') await world.cutConnections();
    if (fault === 'flush') await world.flushRedis();
    await ticking;
    healRpc(world);
    world.moveClock(20_000);
  }
  for (let count = 0; count < drainTicksMax; count += 1) {
    world.moveClock(20_000);
    await retried(() => world.advance(60_000));
    await tick(1);
    if (await isDrained(world, paid)) break;
  }
  return await audit(world, tenantIds, paid, counts);
}

const attemptsMax = 10;

/** Throws the last error after `attemptsMax` attempts. */
async function retried<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === attemptsMax) throw error;
    }
  }
}

async function payOnce(
  world: SolanaWorld,
  tenantId: string,
  random: () => number,
): Promise<Paid[]> {
  const kind = random();
  if (kind < 0.1) {
    const signature = await world.pay(1_000_000n, [newReference()]);
    return [{ intent: null, signature, amount: 1_000_000n }];
  }
  const minutes = { intent: 100_000, grace: 100_000 };
  const intent = await retried(() => world.intent(tenantId, { credits: 100, minutes }));
  const { reference } = intent;
  const amounts =
    kind < 0.3
      ? [400_000n, 600_000n]
      : kind < 0.4
        ? [999_999n]
        : kind < 0.5
          ? [1_000_000n, 1n]
          : [1_000_000n];
  const sent: Paid[] = [];
  for (const amount of amounts) {
    sent.push({ intent, signature: await world.pay(amount, [reference]), amount });
  }
  return sent;
}

function injectFault({ rpcServer: { faults }, chain }: SolanaWorld, chosen: number): string {
  const names = [
    'none',
    'kill',
    'cut',
    'flush',
    'lag',
    '429',
    'truncate',
    'shuffle',
    'lost',
  ] as const;
  const name = names[Math.floor(chosen * names.length)] ?? 'none';
  if (name === 'lag') faults.lag = 4;
  if (name === '429') faults.status = 429;
  if (name === 'truncate') faults.listMax = 1;
  if (name === 'shuffle') faults.shufflesLists = true;
  if (name === 'lost') faults.notFound.add(chain.transactions.at(-1)?.signature ?? '');
  return name;
}

function healRpc({ rpcServer: { faults } }: SolanaWorld): void {
  faults.lag = 0;
  faults.status = null;
  faults.listMax = null;
  faults.shufflesLists = false;
  faults.notFound.clear();
}

async function recorded(world: SolanaWorld): Promise<Map<string, string | null>> {
  const rows = await world.database.query<{ signature: string; reference: string | null }>(
    'SELECT signature, reference FROM solana_payments',
  );
  return new Map(rows.map(({ signature, reference }) => [signature, reference]));
}

async function isDrained(world: SolanaWorld, paid: readonly Paid[]): Promise<boolean> {
  const seen = await recorded(world);
  return paid.every(({ signature }) => seen.has(signature));
}

async function audit(
  world: SolanaWorld,
  tenantIds: readonly string[],
  paid: readonly Paid[],
  faults: Readonly<Record<string, number>>,
): Promise<FaultsVerdict> {
  const violations: string[] = [];
  const seen = await recorded(world);
  for (const { signature, intent } of paid) {
    if (seen.get(signature) !== (intent?.reference ?? null))
      violations.push(`the record of payment ${signature} is missing or has a wrong intent`);
  }
  if (seen.size !== paid.length)
    violations.push(`${seen.size} payments are recorded, but ${paid.length} were made`);
  const byIntent = Map.groupBy(
    paid.filter(({ intent }) => intent !== null),
    ({ intent }) => intent?.reference ?? '',
  );
  const granted = new Map<string, number>();
  for (const [reference, own] of byIntent) {
    const sum = own.reduce((total, { amount }) => total + amount, 0n);
    const intent = await world.read(reference);
    const isPaid = sum >= intent.amountUsdcMicros;
    if (isPaid) granted.set(intent.tenantId, (granted.get(intent.tenantId) ?? 0) + 1);
    if ((intent.status === 'confirmed') !== isPaid)
      violations.push(
        `intent ${reference} is confirmed but not paid in full, or paid in full but not confirmed`,
      );
    if (intent.paidUsdcMicros !== sum)
      violations.push(`the paid amount of intent ${reference} is not the sum of its payments`);
  }
  for (const tenantId of tenantIds) {
    const { balance } = await world.figures(tenantId);
    const grants = granted.get(tenantId) ?? 0;
    if (balance !== grants * 100)
      violations.push(
        `tenant ${tenantId} has ${balance} credits, but paid ${grants} intents of 100 credits in full`,
      );
  }
  const ledger = await auditLedger(world.store);
  violations.push(...ledger.faults.map((fault) => JSON.stringify(fault)));
  const grants = [...granted.values()].reduce((sum, one) => sum + one, 0);
  return { payments: paid.length, granted: grants, faults, violations };
}
