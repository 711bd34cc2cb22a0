import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { submissionStates } from '@svc/domain';
import { createTestDatabase } from '@svc/testkit';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';

/** Tests migrations that change data, on a database that has rows. */

const folder = path.join(import.meta.dirname, 'migrations');
const migrations = readdirSync(folder).filter((name) => /^\d/.test(name));

/** A connection to an empty schema, without any migration. */
async function connectEmpty(): Promise<Client> {
  const database = await createTestDatabase();
  const client = new Client({ connectionString: database.ownerUrl });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await database.close();
  });
  await client.query('CREATE SCHEMA populated');
  await client.query('SET search_path TO populated');
  return client;
}

async function migrate(client: Client, names: readonly string[]): Promise<void> {
  for (const name of names)
    await client.query(readFileSync(path.join(folder, name, 'migration.sql'), 'utf8'));
}

/**
 * Values of the six columns from `node_id` to `lease_expires_at`, for submissions in different
 * states. They satisfy the CHECKs of the table.
 */
const assigned =
  'gen_random_uuid(), svc_now(), svc_now(), svc_now(), NULL::timestamptz, NULL::timestamptz';
const begun = `gen_random_uuid(), svc_now(), svc_now(), svc_now(), svc_now(), svc_now()`;
const nothing =
  'NULL::uuid, NULL::timestamptz, NULL::timestamptz, NULL::timestamptz, NULL::timestamptz, NULL::timestamptz';
const assignment: Record<string, string> = {
  pending: nothing,
  rejected: nothing,
  cancelled: assigned,
  dispatched: assigned,
};

async function insertSubmission(client: Client, state: string): Promise<void> {
  const hasOutcome = ['settling', 'submitted', 'failed'].includes(state);
  const hasEnded = ['submitted', 'failed', 'cancelled', 'rejected'].includes(state);
  const kind = state === 'failed' ? 'failed' : 'completed';
  await client.query(
    `INSERT INTO submissions (id, tenant_id, idempotency_key, request_hash, request_id, job_type, tier, state,
       payload_sealed, quote_estimated_micros, quote_max_micros, surge_micros, rate_card_version,
       available_after_micros, dispatch_deadline_at, created_at, node_id, dispatched_at, start_deadline_at,
       run_deadline_at, started_at, lease_expires_at, outcome_kind, outcome_by, outcome_at, failure_code,
       charged_micros, cancelled_by, finished_at)
     SELECT gen_random_uuid(), gen_random_uuid(), 'key', '\\x00', 'req', 'ats.application', 'standard', $1,
       '\\x01', 1, 2, 1000000, 1, 3, svc_now(), svc_now(), ${assignment[state] ?? begun},
       $2, CASE WHEN $2::text IS NOT NULL THEN 'node' END, CASE WHEN $2::text IS NOT NULL THEN svc_now() END,
       CASE WHEN $2 = 'failed' THEN 'captcha' END, CASE WHEN $3 AND $1 <> 'rejected' THEN 1 END,
       CASE WHEN $1 = 'cancelled' THEN 'tenant' END, CASE WHEN $3 THEN svc_now() END`,
    [state, hasOutcome ? kind : null, hasEnded],
  );
}

/** Reads the submissions without the columns that the tested migration and later ones add. */
const rowsSql = `SELECT to_jsonb(s) - 'ended_otherwise' - 'rejected_id' - 'offer_records' AS row FROM submissions s ORDER BY id`;
const checksSql = `SELECT conname, pg_get_constraintdef(oid) AS definition FROM pg_constraint
  WHERE conrelid = 'submissions'::regclass AND contype IN ('c', 'p') ORDER BY conname`;

test('the submissions of a populated database keep their values and their guards', async () => {
  const client = await connectEmpty();
  const moving = migrations.findIndex((name) => name.endsWith('_heap_only_submissions'));
  await migrate(client, migrations.slice(0, moving));
  for (const state of submissionStates) await insertSubmission(client, state);
  const before = await client.query(rowsSql);
  const checksBefore = await client.query(checksSql);
  await migrate(client, migrations.slice(moving));
  expect((await client.query(rowsSql)).rows).toEqual(before.rows);
  expect((await client.query(checksSql)).rows).toEqual(checksBefore.rows);
  const inFlight = await client.query(
    `SELECT state FROM submissions_in_flight f JOIN submissions s ON s.id = f.submission_id
       AND s.tenant_id = f.tenant_id ORDER BY state`,
  );
  expect(inFlight.rows.map(({ state }) => state)).toEqual(
    ['pending', 'dispatched', 'running', 'settling'].toSorted(),
  );
  // The idempotency key of a rejected submission is free. The key of any other submission is taken.
  const again = `INSERT INTO submissions (id, tenant_id, idempotency_key, request_hash, request_id, job_type,
      tier, state, payload_sealed, quote_estimated_micros, quote_max_micros, surge_micros, rate_card_version,
      available_after_micros, dispatch_deadline_at, created_at)
    SELECT gen_random_uuid(), tenant_id, idempotency_key, request_hash, request_id, job_type, tier, 'pending',
      payload_sealed, 1, 2, surge_micros, rate_card_version, 3, svc_now(), svc_now()
    FROM submissions WHERE state = $1`;
  await client.query(again, ['rejected']);
  await expect(client.query(again, ['submitted'])).rejects.toThrow(
    'submissions_tenant_id_idempotency_key_key',
  );
});

test('the pending deliveries of a populated database are due when they were', async () => {
  const client = await connectEmpty();
  const moving = migrations.findIndex((name) => name.endsWith('_heap_only_claims'));
  await migrate(client, migrations.slice(0, moving));
  const inserted = await client.query(
    `INSERT INTO deliveries (id, tenant_id, event_id, type, status, next_attempt_at, created_at, round_started_at)
     SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'webhook.test', 'pending',
       svc_now() - n * interval '1 hour', svc_now(), svc_now() FROM generate_series(1, 3) AS n
     RETURNING id, next_attempt_at AS at`,
  );
  await migrate(client, migrations.slice(moving));
  const due = await client.query('SELECT id, due_at AS at FROM deliveries ORDER BY due_at DESC');
  expect(due.rows).toEqual(inserted.rows);
});
