import {
  acceptLinkSignature,
  claimDue,
  commitDispatched,
  commitRunning,
  createEndpoint,
  holdSubmission,
  recordAttempt,
  recordUsage,
  settle,
  storeOutcome,
} from '@svc/store';
import { type Fixture, newSubmission, usage } from '@svc/store/fixture';
import { testAuthor } from '@svc/testkit';

export interface Traffic {
  run(size: { readonly lives: number; readonly rows: number }): Promise<void>;
  lived(): number;
  /**
   * Sends the first submissions of `run` again, with their idempotency keys. Returns a fault for
   * each key for which the service starts a second submission.
   */
  forgotten(): Promise<string[]>;
}

const url = 'https://hooks.example.com/svc';
const rowsPerStatement = 500;
const auditEntriesPerRun = 20;
const linksPerRun = 20;
/**
 * The credits of each tenant. They last for a year of traffic, and are below the limit of a
 * balance.
 */
const credits = 900_000;

export async function startTraffic(fixture: Fixture): Promise<Traffic> {
  const { store } = fixture;
  const notified = [await fixture.tenant(credits, url), await fixture.tenant(credits, url)];
  const [polled, silent] = [await fixture.tenant(credits), await fixture.tenant(credits)];
  const endpoint = { url: null, events: null, description: null, secret: 'whsec_Mg==' };
  await createEndpoint(store, { tenantId: polled, ...endpoint }, testAuthor);
  const tenantIds = [...notified, polled, silent];
  const nodeId = await fixture.node();
  const firstKeys: { tenantId: string; key: string; requestHash: Uint8Array }[] = [];
  let lived = 0;

  async function live(tenantId: string, number: number): Promise<void> {
    const submission = await newSubmission(store, tenantId, { key: `growth-${number}` });
    const { idempotencyKey: key, requestHash } = submission;
    if (firstKeys.length < tenantIds.length) firstKeys.push({ tenantId, key, requestHash });
    await holdSubmission(store, submission);
    const at = { submissionId: submission.id, nodeId };
    await commitDispatched(store, { ...at, offers: [] });
    await commitRunning(store, { ...at, instanceId: 'instance-1' });
    await recordUsage(store, { ...at, usage: usage({ actions: '1', nodeSeconds: '1' }) });
    const used = usage({ actions: '2', nodeSeconds: '2', cpuSeconds: '1' });
    const result = { confirmationNumber: `C-${number}` };
    await storeOutcome(store, { ...at, outcome: { kind: 'completed', usage: used, result } });
    await settle(store, [submission.id]);
  }

  async function deliver(): Promise<void> {
    const claims = await claimDue(
      store,
      notified.map((tenantId) => ({ tenantId, attemptsMax: 100 })),
    );
    const observed = { statusCode: 200, durationMs: 1, error: null, responseText: 'ok' };
    for (const attempt of claims.flatMap(({ attempts }) => attempts)) {
      await recordAttempt(store, { ...attempt, ...observed, verdict: { kind: 'delivered' } });
    }
  }

  return {
    async run({ lives, rows }) {
      const live1 = async () => {
        for (let n = 0; n < lives; n += 1) {
          lived += 1;
          await live(tenantIds[lived % tenantIds.length] ?? silent, lived);
          await deliver();
        }
      };
      await Promise.all([live1(), insertRows(fixture, rows), noteLinksAndChanges(fixture, lived)]);
    },
    lived: () => lived,
    async forgotten() {
      const found: string[] = [];
      for (const { tenantId, key, requestHash } of firstKeys) {
        const again = await newSubmission(store, tenantId, { key, requestHash });
        const { kind } = await holdSubmission(store, again);
        if (kind === 'held') found.push(`the service has forgotten the idempotency key ${key}`);
      }
      return found;
    },
  };
}

async function insertRows({ database }: Fixture, rows: number): Promise<void> {
  for (let inserted = 0; inserted < rows; inserted += rowsPerStatement) {
    await database.query(insertSql, [Math.min(rowsPerStatement, rows - inserted)]);
  }
}

const insertSql = `
  WITH n AS MATERIALIZED (
    SELECT overlay(svc_uuid_floor(svc_now())::text PLACING right(gen_random_uuid()::text, 12) FROM 25)::uuid AS id
    FROM generate_series(1, $1::int)
  ), e AS (
    INSERT INTO events (id, tenant_id, type, body_sealed, request_id, created_at)
    SELECT id, id, 'submission.submitted', convert_to(repeat(md5(id::text), 16), 'UTF8'), 'growth', svc_now() FROM n
  ), d AS (
    INSERT INTO deliveries (id, tenant_id, event_id, type, status, attempt_count, created_at, round_started_at, finished_at)
    SELECT id, id, id, 'submission.submitted', 'delivered', 1, svc_now(), svc_now(), svc_now() FROM n
  ), a AS (
    INSERT INTO delivery_attempts (delivery_id, round, number, at, recorded_at, status_code, duration_ms)
    SELECT id, 1, 1, svc_now(), svc_now(), 200, 12 FROM n
  )
  INSERT INTO usage_reports (submission_id, at, node_seconds, actions) SELECT id, svc_now(), 2, 1 FROM n`;

async function noteLinksAndChanges(
  { store, database }: Fixture,
  startedAfter: number,
): Promise<void> {
  for (let n = 0; n < linksPerRun; n += 1) {
    await acceptLinkSignature(store, Buffer.from(`link ${startedAfter} ${n}`.padEnd(32)));
  }
  await database.query(
    `INSERT INTO audit_log (at, actor_kind, actor_name, action, subject_kind, subject_id, before, after, request_id)
     SELECT svc_now(), 'local', 'growth', 'tenant.update', 'tenant', gen_random_uuid()::text,
       '{"rateLimitPerSecond": 100}', '{"rateLimitPerSecond": 200}', gen_random_uuid()::text
     FROM generate_series(1, $1::int)`,
    [auditEntriesPerRun],
  );
}
