import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { microsPerCredit } from '@svc/domain';
import { startPostgres } from '@svc/local';
import { newId } from '@svc/runtime';
import { createSealer, openKeyring } from '@svc/signing';
import {
  holdSubmission,
  migrate,
  type NewSubmission,
  openStore,
  payloadPlace,
  type Store,
} from '@svc/store';
import { Client, Pool } from 'pg';

/**
 * Compares the store with one plain SQL statement per hold, in holds per second. Both write the
 * same rows.
 *
 * pnpm bench:store [--seconds 2] [--rounds 5]
 */

const poolMax = 16;
const tenantsMax = 1_000;
const maxMicros = 1n * microsPerCredit;

type Hold = (tenantId: string) => Promise<void>;

interface Shape {
  readonly name: string;
  readonly inFlight: number;
  readonly tenants: number;
}

const shapes: readonly Shape[] = [
  { name: '1 in flight, 1,000 tenants', inFlight: 1, tenants: tenantsMax },
  { name: '1 in flight, one tenant', inFlight: 1, tenants: 1 },
  { name: '64 in flight, 1,000 tenants', inFlight: 64, tenants: tenantsMax },
  { name: '64 in flight, one tenant', inFlight: 64, tenants: 1 },
];

const seconds = numberOption('--seconds', 2);
const rounds = numberOption('--rounds', 5);
const sealer = createSealer(openKeyring(`bench:${randomBytes(32).toString('base64')}`));
const payloadText = JSON.stringify({
  applicationUrl: 'https://jobs.example.com/apply/8841',
  atsType: 'greenhouse',
  applicantProfile: { name: 'Ana Pérez', email: 'ana@example.com' },
  jobContext: { title: 'Welder', company: 'Example Works' },
});

const plainSql = `WITH account AS (
    UPDATE credit_accounts SET held_micros = held_micros + $6::bigint
    WHERE tenant_id = $2 AND balance_micros - held_micros >= $6::bigint
    RETURNING balance_micros, held_micros
  ), submission AS (
    INSERT INTO submissions (id, tenant_id, idempotency_key, request_hash, request_id, job_type, tier,
      state, payload_sealed, quote_estimated_micros, quote_max_micros, surge_micros, rate_card_version,
      available_after_micros, dispatch_deadline_at, created_at)
    SELECT $1, $2, $3, $4, 'bench', 'ats.application', 'standard', 'pending', $5, 0, $6::bigint, 1000000, 1,
      balance_micros - held_micros, svc_now() + interval '5 seconds', svc_now()
    FROM account
  ), entry AS (
    INSERT INTO ledger_entries (id, tenant_id, type, debit_account, credit_account, amount_micros,
      balance_after_micros, held_after_micros, submission_id, created_at)
    SELECT $7, $2, 'hold', 'tenant_available', 'tenant_held', $6::bigint, balance_micros, held_micros, $1, svc_now()
    FROM account
  )
  SELECT balance_micros - held_micros AS available FROM account`;

const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-bench-'));
const postgres = await startPostgres({ dir, durable: true, connectionsMax: 60 });
try {
  await createDatabase(postgres.url);
  const ownerUrl = postgres.databaseUrl('bench');
  const databaseUrl = postgres.serviceUrl('bench');
  const migrated = await migrate(ownerUrl, databaseUrl);
  if (migrated.kind === 'refused') throw new Error(migrated.reason);
  const pool = new Pool({ connectionString: ownerUrl, max: poolMax });
  // Ignores the errors of sockets that are still open when Postgres stops. There may be some,
  // because `pool.end()` resolves before its sockets have closed.
  pool.on('error', () => {});
  const store = openStore({ databaseUrl, sealer, newId, poolMax });
  try {
    const tenants = await seedTenants(pool);
    for (const shape of shapes) await compare(shape, tenants, { pool, store });
  } finally {
    await Promise.all([store.close(), pool.end()]);
  }
} finally {
  await postgres.stop();
  rmSync(dir, { recursive: true, force: true });
}

async function compare(
  { name, inFlight, tenants: count }: Shape,
  tenants: readonly string[],
  { pool, store }: { pool: Pool; store: Store },
): Promise<void> {
  const some = tenants.slice(0, count);
  const plain: number[] = [];
  const batched: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const one = await rate((tenantId) => holdPlainly(pool, tenantId), some, inFlight);
    const other = await rate((tenantId) => holdThroughStore(store, tenantId), some, inFlight);
    // The first round is a warm-up.
    if (round === 0) continue;
    plain.push(one);
    batched.push(other);
  }
  const ratio = median(batched) / median(plain);
  process.stdout.write(
    `${name.padEnd(30)} plain ${Math.round(median(plain))}/s  store ${Math.round(median(batched))}/s  ratio ${ratio.toFixed(2)}\n`,
  );
}

async function rate(hold: Hold, tenants: readonly string[], inFlight: number): Promise<number> {
  const startedMs = performance.now();
  const endMs = startedMs + seconds * 1_000;
  let done = 0;
  let next = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < endMs) {
      const tenantId = tenants[next++ % tenants.length] ?? '';
      await hold(tenantId);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return done / ((performance.now() - startedMs) / 1_000);
}

function submissionFor(tenantId: string): NewSubmission {
  return {
    id: newId(),
    tenantId,
    idempotencyKey: randomUUID(),
    requestHash: randomBytes(32),
    requestId: 'bench',
    jobType: 'ats.application',
    tier: 'standard',
    payloadText,
    quote: {
      estimatedMicros: 0n,
      maxMicros,
      surgeMicros: microsPerCredit,
      rateCardVersion: 1,
    },
  };
}

async function holdThroughStore(store: Store, tenantId: string): Promise<void> {
  const outcome = await holdSubmission(store, submissionFor(tenantId));
  if (outcome.kind !== 'held') throw new Error(`the store refused a hold: ${outcome.kind}`);
}

async function holdPlainly(pool: Pool, tenantId: string): Promise<void> {
  const submission = submissionFor(tenantId);
  const payload = sealer.seal(payloadPlace(submission), payloadText);
  const result = await pool.query({
    name: 'plain-hold',
    text: plainSql,
    values: [
      submission.id,
      tenantId,
      submission.idempotencyKey,
      submission.requestHash,
      payload,
      String(maxMicros),
      newId(),
    ],
  });
  if (result.rowCount !== 1) throw new Error('the plain statement held no credits');
}

async function createDatabase(adminUrl: string): Promise<void> {
  const admin = new Client({ connectionString: adminUrl });
  await admin.connect();
  await admin.query('CREATE DATABASE bench');
  await admin.end();
}

async function seedTenants(pool: Pool): Promise<string[]> {
  const ids = Array.from({ length: tenantsMax }, () => newId());
  await pool.query(
    `INSERT INTO tenants (id, name, allowed_job_types, created_at)
     SELECT id, 'bench', ARRAY['ats.application'], svc_now() FROM unnest($1::uuid[]) AS id`,
    [ids],
  );
  await pool.query(
    `INSERT INTO credit_accounts (tenant_id, balance_micros) SELECT id, 900000000000000 FROM unnest($1::uuid[]) AS id`,
    [ids],
  );
  return ids;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function numberOption(name: string, byDefault: number): number {
  const index = process.argv.indexOf(name);
  return index < 0 ? byDefault : Number(process.argv[index + 1]);
}
