import { stopDatabaseClock } from '@svc/testkit';
import { createFixture, type Fixture } from '../store.fixture.ts';
import { createPurchaseIntent, type NewIntent, type PurchaseIntent } from './intents.ts';
import { takeWatcherLease } from './lease.ts';
import { type FoundTransaction, type RecordOutcome, recordTransaction } from './payments.ts';

export const minuteMs = 60_000;
export const leaseMs = 10 * minuteMs;

/** A store whose clock stands still, and the lease of a watcher named `watcher`. */
export interface Rail extends Fixture {
  readonly epoch: bigint;
  /** The time at which the rail was opened. */
  readonly openedAt: Date;
  readonly tenantId: string;
  /** Stops the clock of the database at this many milliseconds after `openedAt`. */
  readonly clockAt: (ms: number) => Promise<void>;
  /** Creates an intent of 5 credits for 0.05 USDC, with a life of 10 minutes and a grace of 10. */
  readonly intent: (reference: string, terms?: Partial<NewIntent>) => Promise<PurchaseIntent>;
  /** Records a transaction that names `accountKeys` and pays to the token account `account`. */
  readonly pay: (
    signature: string,
    amountUsdcMicros: bigint,
    accountKeys: readonly string[],
    found?: Partial<FoundTransaction>,
  ) => Promise<RecordOutcome>;
  /** Lets each write to the table fail with `not now`. */
  readonly refuseWrites: (table: string) => Promise<void>;
}

export async function openRail(): Promise<Rail> {
  const fixture = await createFixture();
  const { store, database } = fixture;
  const openedAt = new Date();
  const clockAt = (ms: number) =>
    stopDatabaseClock(database.databaseUrl, new Date(openedAt.getTime() + ms));
  await clockAt(0);
  const epoch = (await takeWatcherLease(store, { holder: 'watcher', leaseMs }))?.epoch ?? 0n;
  const tenantId = await fixture.tenant(0);
  return {
    ...fixture,
    epoch,
    openedAt,
    tenantId,
    clockAt,
    async intent(reference, terms = {}) {
      const outcome = await createPurchaseIntent(store, {
        reference,
        tenantId,
        creditsMicros: 5_000_000n,
        amountUsdcMicros: 50_000n,
        usdPerCreditMicros: 10_000n,
        recipient: 'recipient',
        tokenAccount: 'account',
        mint: 'mint',
        minutes: { intent: 10, grace: 10 },
        ...terms,
      });
      if (outcome.kind !== 'created') throw new Error(outcome.kind);
      return outcome.intent;
    },
    pay: (signature, amountUsdcMicros, accountKeys, found = {}) => {
      const payments = [{ tokenAccount: 'account', mint: 'mint', amountUsdcMicros }];
      const paid = { signature, slot: 1, blockTimeSeconds: null, accountKeys, payments, ...found };
      return recordTransaction(store, epoch, paid, null);
    },
    async refuseWrites(table) {
      await database.query(
        `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN RAISE EXCEPTION 'not now'; END $$;
         CREATE TRIGGER refuse BEFORE INSERT OR UPDATE OR DELETE ON ${table} EXECUTE FUNCTION refuse()`,
      );
    },
  };
}
