import { webhookAgeMaxMs } from '@svc/domain';
import { testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import { cancelSubmission } from '../endings/endings.ts';
import { exhaustAged, claimFor, createFixture, type Fixture } from '../store.fixture.ts';
import { changeSettings } from '../tenants/settings.ts';
import { type AttemptVerdict, recordAttempt } from './attempts.ts';
import { claimDue, type ClaimedAttempt } from './claims.ts';
import { attemptClaimMs, findDueEndpoints } from './deliveries.ts';

const url = 'https://hooks.example.com/svc';

async function delivery(fixture: Fixture) {
  const { store, tenant, hold, database } = fixture;
  const tenantId = await tenant(1_000, url);
  const { id: submissionId } = await hold(tenantId);
  const ended = await cancelSubmission(store, { submissionId, tenantId, by: 'tenant' });
  const [deliveryId] = ended.kind === 'cancelled' ? ended.deliveryIds : [];
  if (deliveryId === undefined) throw new Error('no delivery');
  const status = async () => {
    const [row] = await database.query<{ status: string }>(
      'SELECT status FROM deliveries WHERE id = $1',
      [deliveryId],
    );
    return row?.status;
  };
  return { tenantId, deliveryId, status };
}

async function claimOne(fixture: Fixture, tenantId: string): Promise<ClaimedAttempt> {
  const [claimed] = await claimFor(fixture.store, tenantId);
  if (claimed === undefined) throw new Error('not claimed');
  return claimed;
}

async function dueTenants({ store }: Fixture): Promise<string[]> {
  return (await findDueEndpoints(store, { afterTenantId: null, limit: 10 })).tenantIds;
}

function record(fixture: Fixture, attempt: ClaimedAttempt, verdict: AttemptVerdict, code = 200) {
  return recordAttempt(fixture.store, {
    ...attempt,
    statusCode: code,
    durationMs: 12,
    error: null,
    responseText: 'ok',
    verdict,
  });
}

test('an attempt is claimed and logged once, with the stored bytes', async () => {
  const fixture = await createFixture();
  const { tenantId, status } = await delivery(fixture);
  expect(await dueTenants(fixture)).toEqual([tenantId]);
  const claims = await Promise.all([
    claimFor(fixture.store, tenantId),
    claimFor(fixture.store, tenantId),
  ]);
  const [claimed] = claims.flat();
  expect(claims.flat()).toHaveLength(1);
  expect(claimed).toMatchObject({ attemptNumber: 1, url, secrets: ['whsec_MQ=='] });
  expect(JSON.parse(claimed?.body ?? '')).toMatchObject({
    type: 'submission.cancelled',
    data: { status: 'cancelled', actualCredits: 0, refundedCredits: 200, by: 'tenant' },
  });
  expect(await dueTenants(fixture)).toEqual([]);
  expect(await status()).toBe('pending');
});

test('a delivered delivery is never due again', async () => {
  const fixture = await createFixture();
  const { tenantId, status } = await delivery(fixture);
  await record(fixture, await claimOne(fixture, tenantId), { kind: 'delivered' });
  expect(await status()).toBe('delivered');
  await fixture.advance(attemptClaimMs * 10);
  expect(await dueTenants(fixture)).toEqual([]);
});

test('an unrecorded claim is due again as the next attempt', async () => {
  const fixture = await createFixture();
  const { tenantId, status } = await delivery(fixture);
  const first = await claimOne(fixture, tenantId);
  await fixture.advance(attemptClaimMs);
  expect(await dueTenants(fixture)).toEqual([tenantId]);
  const second = await claimOne(fixture, tenantId);
  expect(second.attemptNumber).toBe(2);
  await record(fixture, first, { kind: 'delivered' });
  expect(await status()).toBe('pending');
  await record(fixture, second, { kind: 'delivered' });
  expect(await status()).toBe('delivered');
});

test('a retry is due after its delay', async () => {
  const fixture = await createFixture();
  const { tenantId } = await delivery(fixture);
  const attempt = await claimOne(fixture, tenantId);
  await record(fixture, attempt, { kind: 'retry', delayMs: 60_000 }, 500);
  await fixture.advance(59_000);
  expect(await claimFor(fixture.store, tenantId)).toEqual([]);
  await fixture.advance(1_000);
  expect((await claimOne(fixture, tenantId)).attemptNumber).toBe(2);
});

test('crashes cannot cause a ninth attempt', async () => {
  const fixture = await createFixture();
  const { tenantId, status } = await delivery(fixture);
  for (let number = 1; number <= 8; number += 1) {
    expect((await claimOne(fixture, tenantId)).attemptNumber).toBe(number);
    await fixture.advance(attemptClaimMs);
  }
  expect(await claimFor(fixture.store, tenantId)).toEqual([]);
  expect(await status()).toBe('exhausted');
});

test('a 410 disables the URL that answered it and drops the pending deliveries', async () => {
  const fixture = await createFixture();
  const { tenantId, status } = await delivery(fixture);
  const attempt = await claimOne(fixture, tenantId);
  await record(fixture, attempt, { kind: 'gone' }, 410);
  expect(await status()).toBe('dropped');
  const [tenant] = await fixture.database.query<{ off: boolean }>(
    'SELECT webhook_disabled_at IS NOT NULL AS off FROM tenants WHERE id = $1',
    [tenantId],
  );
  expect(tenant?.off).toBe(true);
});

test('a 410 of a URL that was replaced meanwhile disables nothing', async () => {
  const fixture = await createFixture();
  const { tenantId } = await delivery(fixture);
  const attempt = await claimOne(fixture, tenantId);
  await changeSettings(
    fixture.store,
    tenantId,
    { webhookUrl: 'https://hooks.example.com/new' },
    testAuthor,
  );
  await record(fixture, attempt, { kind: 'gone' }, 410);
  const [tenant] = await fixture.database.query<{ off: boolean }>(
    'SELECT webhook_disabled_at IS NOT NULL AS off FROM tenants WHERE id = $1',
    [tenantId],
  );
  expect(tenant?.off).toBe(false);
});

test('without a URL an event is written and never sent', async () => {
  const fixture = await createFixture();
  const { store, tenant, hold, database } = fixture;
  const tenantId = await tenant(1_000, null);
  const { id: submissionId } = await hold(tenantId);
  await cancelSubmission(store, { submissionId, tenantId, by: 'tenant' });
  await changeSettings(store, tenantId, { webhookUrl: url }, testAuthor);
  const ended = `SELECT id FROM events WHERE type = 'submission.cancelled'`;
  expect(await database.query(ended)).toHaveLength(1);
  expect(await dueTenants(fixture)).toEqual([]);
});

test('clearing the URL drops the pending deliveries', async () => {
  const fixture = await createFixture();
  const { tenantId, status } = await delivery(fixture);
  await changeSettings(fixture.store, tenantId, { webhookUrl: null }, testAuthor);
  expect(await status()).toBe('dropped');
  expect(await claimFor(fixture.store, tenantId)).toEqual([]);
});

test('each endpoint gets attempts up to its capacity, the longest due first', async () => {
  const fixture = await createFixture();
  const { store, tenant, hold } = fixture;
  const owners = [await tenant(10_000, url), await tenant(10_000, url)];
  const deliveryIds: string[][] = [[], []];
  for (const [index, tenantId] of owners.entries()) {
    for (let n = 0; n < 5; n += 1) {
      await fixture.advance(1_000 * (10 * index + n));
      const { id: submissionId } = await hold(tenantId);
      const ended = await cancelSubmission(store, { submissionId, tenantId, by: 'tenant' });
      if (ended.kind === 'cancelled') deliveryIds[index]?.push(...ended.deliveryIds);
    }
  }
  await fixture.advance(60_000);
  const asks = owners.map((tenantId) => ({ tenantId, attemptsMax: 3 }));
  const first = await claimDue(store, asks);
  for (const [index, tenantId] of owners.entries()) {
    const claim = first.find((one) => one.tenantId === tenantId);
    expect(claim).toMatchObject({ more: true, postponedMs: 0 });
    const claimed = claim?.attempts.map((attempt) => attempt.deliveryId).toSorted();
    expect(claimed).toEqual(deliveryIds[index]?.slice(0, 3).toSorted());
  }
  const second = await claimDue(store, asks);
  expect(second.map(({ more, attempts }) => [more, attempts.length])).toEqual([
    [false, 2],
    [false, 2],
  ]);
});

test('tenants with due deliveries are found page by page, whatever their backlogs', async () => {
  const fixture = await createFixture();
  const owners: string[] = [];
  for (let n = 0; n < 5; n += 1) owners.push((await delivery(fixture)).tenantId);
  const found: string[] = [];
  let afterTenantId: string | null = null;
  do {
    const page = await findDueEndpoints(fixture.store, { afterTenantId, limit: 2 });
    expect(page.tenantIds.length).toBeLessThanOrEqual(2);
    found.push(...page.tenantIds);
    afterTenantId = page.nextAfterTenantId;
  } while (afterTenantId !== null);
  expect(found).toEqual(owners.toSorted());
});

test('a round ends after 72 hours: postponed attempts are not made, and no later retry is planned', async () => {
  const fixture = await createFixture();
  const postponed = await delivery(fixture);
  const retried = await delivery(fixture);
  await fixture.advance(webhookAgeMaxMs - 60_000);
  expect(await exhaustAged(fixture.store)).toBe(0);
  const attempt = await claimOne(fixture, retried.tenantId);
  const recorded = await record(fixture, attempt, { kind: 'retry', delayMs: 61_000 }, 500);
  expect(recorded).toEqual({ status: 'exhausted' });
  expect(await retried.status()).toBe('exhausted');
  await fixture.advance(60_000);
  expect(await exhaustAged(fixture.store)).toBe(1);
  expect(await postponed.status()).toBe('exhausted');
});

test('a delivery that is 72 hours old is not claimed', async () => {
  const fixture = await createFixture();
  const { tenantId, status } = await delivery(fixture);
  await fixture.advance(webhookAgeMaxMs);
  expect(await claimFor(fixture.store, tenantId)).toEqual([]);
  expect(await status()).toBe('exhausted');
});

test('a tenant with a cap gets its attempts of an hour, and the rest in the next hour', async () => {
  const fixture = await createFixture();
  const { store, database } = fixture;
  const { tenantId, status } = await delivery(fixture);
  const { id: submissionId } = await fixture.hold(tenantId);
  await cancelSubmission(store, { submissionId, tenantId, by: 'tenant' });
  await database.query(
    `INSERT INTO webhook_caps (tenant_id, attempts_per_hour, hour) VALUES ($1, 1, '2026-01-01T00:00Z')`,
    [tenantId],
  );
  const asks = [{ tenantId, attemptsMax: 8 }];
  const [first] = await claimDue(store, asks);
  expect(first?.attempts).toHaveLength(1);
  const [spent] = await claimDue(store, asks);
  expect(spent).toMatchObject({ attempts: [], more: true });
  expect(spent?.postponedMs).toBeGreaterThan(0);
  expect(spent?.postponedMs).toBeLessThanOrEqual(3_600_000);
  expect(await status()).toBe('pending');
  await fixture.advance(spent?.postponedMs ?? 0);
  const [later] = await claimDue(store, asks);
  expect(later?.attempts).toHaveLength(1);
});

test('tenants with caps that are claimed together each get their attempts once', async () => {
  const fixture = await createFixture();
  const capped = [await delivery(fixture), await delivery(fixture)];
  for (const [index, { tenantId }] of capped.entries()) {
    await fixture.database.query(
      `INSERT INTO webhook_caps (tenant_id, attempts_per_hour, hour) VALUES ($1, $2, svc_now())`,
      [tenantId, index + 1],
    );
  }
  const asks = capped.map(({ tenantId }) => ({ tenantId, attemptsMax: 8 }));
  const claims = await claimDue(fixture.store, asks);
  expect(claims.map(({ attempts }) => attempts.length)).toEqual([1, 1]);
  const counted = await fixture.database.query('SELECT attempts FROM webhook_caps');
  expect(counted).toEqual([{ attempts: 1 }, { attempts: 1 }]);
});

test('an event that cannot be unsealed does not block the attempts of others', async () => {
  const fixture = await createFixture();
  const broken = await delivery(fixture);
  const whole = await delivery(fixture);
  await fixture.database.query(`UPDATE events SET body_sealed = '\\x00' WHERE tenant_id = $1`, [
    broken.tenantId,
  ]);
  const claims = await claimDue(
    fixture.store,
    [broken, whole].map(({ tenantId }) => ({ tenantId, attemptsMax: 8 })),
  );
  const bodies = new Map(claims.map(({ tenantId, attempts }) => [tenantId, attempts[0]?.body]));
  expect(bodies.get(broken.tenantId)).toBeNull();
  expect(bodies.get(whole.tenantId)).toContain('submission.cancelled');
});

test('many attempts are recorded at once, each with its own result', async () => {
  const fixture = await createFixture();
  const owners = await Promise.all(Array.from({ length: 20 }, () => delivery(fixture)));
  const claims = await claimDue(
    fixture.store,
    owners.map(({ tenantId }) => ({ tenantId, attemptsMax: 1 })),
  );
  const attempts = claims.flatMap((claim) => claim.attempts);
  const recorded = await Promise.all(
    attempts.map((attempt, index) =>
      index % 2 === 0
        ? record(fixture, attempt, { kind: 'delivered' })
        : record(fixture, attempt, { kind: 'retry', delayMs: 5_000 }, 500),
    ),
  );
  expect(recorded.map(({ status }) => status)).toEqual(
    attempts.map((_, index) => (index % 2 === 0 ? 'delivered' : 'pending')),
  );
});

test('characters that Postgres cannot store are removed from a response, and the attempt is recorded', async () => {
  const fixture = await createFixture();
  const { tenantId, status } = await delivery(fixture);
  const attempt = await claimOne(fixture, tenantId);
  await recordAttempt(fixture.store, {
    ...attempt,
    statusCode: null,
    durationMs: 1,
    error: 'cut \ud83d',
    responseText: 'a\0b',
    verdict: { kind: 'exhausted' },
  });
  expect(await status()).toBe('exhausted');
});
