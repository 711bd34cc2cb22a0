import { webhookAgeMaxMs, webhookAttemptsMax } from '@svc/domain';
import { testAuthor } from '@svc/testkit';
import { afterAll, describe, expect, test } from 'vitest';
import { recordAttempt } from '../deliveries/attempts.ts';
import type { ClaimedAttempt } from '../deliveries/claims.ts';
import { attemptClaimMs } from '../deliveries/deliveries.ts';
import { openFixture } from '../store.fixture.ts';
import { rotateTenantSecret } from '../tenants/secrets.ts';
import { changeSettings } from '../tenants/settings.ts';
import { changeEndpoint } from './changes.ts';
import { endpointTools } from './endpoints.fixture.ts';

const fixture = await openFixture();
const { store, database } = fixture;
afterAll(() => fixture.close());

const settingsUrl = 'https://hooks.example.com/settings';
const url = 'https://hooks.example.com/endpoint';
const { endpoint, cancelOne, claimAll } = endpointTools(fixture, url);
const newUrl = 'https://new.example.com/';

/** Records that the former URL answered 410, and returns the delivery. */
async function answerGone(attempt: ClaimedAttempt | undefined): Promise<string> {
  if (attempt === undefined) throw new Error('nothing to claim');
  const answer = { statusCode: 410, durationMs: 1, error: null, responseText: null };
  expect(await recordAttempt(store, { ...attempt, ...answer, verdict: { kind: 'gone' } })).toEqual({
    status: 'pending',
  });
  await fixture.advance(attemptClaimMs);
  return attempt.deliveryId;
}

const again = (deliveryId: string) =>
  expect.objectContaining({ deliveryId, url: newUrl, round: 2, attemptNumber: 1 });

describe.each(['settings', 'endpoint'] as const)('a 410 of a former URL: %s', (at) => {
  /** Returns a tenant with one delivery, and a function that changes the URL. */
  async function withDelivery() {
    const tenantId = await fixture.tenant(1_000, at === 'settings' ? settingsUrl : null);
    const endpointId = at === 'settings' ? null : await endpoint(tenantId);
    await cancelOne(tenantId);
    const change = () =>
      endpointId === null
        ? changeSettings(store, tenantId, { webhookUrl: newUrl }, testAuthor)
        : changeEndpoint(store, { tenantId, endpointId }, { url: newUrl }, testAuthor);
    return { tenantId, change };
  }

  test('at the first attempt, the present URL gets the delivery', async () => {
    const { tenantId, change } = await withDelivery();
    const [attempt] = await claimAll(tenantId);
    await change();
    const deliveryId = await answerGone(attempt);
    expect(await claimAll(tenantId)).toContainEqual(again(deliveryId));
  });

  test('at the last attempt, the present URL gets the delivery', async () => {
    const { tenantId, change } = await withDelivery();
    let [attempt] = await claimAll(tenantId);
    for (let number = 2; number <= webhookAttemptsMax; number += 1) {
      await fixture.advance(attemptClaimMs);
      [attempt] = await claimAll(tenantId);
    }
    expect(attempt?.attemptNumber).toBe(webhookAttemptsMax);
    await change();
    const deliveryId = await answerGone(attempt);
    expect(await claimAll(tenantId)).toContainEqual(again(deliveryId));
  });

  test('after 72 hours, the present URL gets the delivery', async () => {
    const { tenantId, change } = await withDelivery();
    const [attempt] = await claimAll(tenantId);
    await fixture.advance(webhookAgeMaxMs);
    await change();
    const deliveryId = await answerGone(attempt);
    expect(await claimAll(tenantId)).toContainEqual(again(deliveryId));
  });
});

test('other endpoints are notified when a disabled URL is set again', async () => {
  const tenantId = await fixture.tenant(1_000, settingsUrl);
  await endpoint(tenantId);
  await claimAll(tenantId);
  await database.query(
    "UPDATE tenants SET webhook_disabled_at = svc_now(), webhook_disabled_reason = 'x' WHERE id = $1",
    [tenantId],
  );
  await changeSettings(store, tenantId, { webhookUrl: settingsUrl }, testAuthor);
  const attempts = await claimAll(tenantId);
  expect(attempts).toMatchObject([{ type: 'settings.changed', url }]);
});

test('a former URL gets no signature of a secret whose overlap has ended', async () => {
  const tenantId = await fixture.tenant(1_000, settingsUrl);
  const rotation = { tenantId, kind: 'webhook', secret: 'whsec_Mw==', force: false } as const;
  await rotateTenantSecret(store, { ...rotation, overlapMs: 60_000 }, testAuthor);
  await claimAll(tenantId);
  await changeSettings(store, tenantId, { webhookUrl: newUrl }, testAuthor);
  await fixture.advance(60_001);
  const former = (await claimAll(tenantId)).filter(({ targetId }) => targetId !== null);
  expect(former.map(({ secrets }) => secrets)).toEqual([['whsec_Mw==']]);
});

test('a backlog of many pages is dropped whole when its URL is cleared', async () => {
  const tenantId = await fixture.tenant(1_000, settingsUrl);
  await database.query(
    `INSERT INTO deliveries (id, tenant_id, event_id, type, status, next_attempt_at, created_at,
       round_started_at)
     SELECT (left(svc_uuid_floor(svc_now())::text, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid,
       $1, gen_random_uuid(), 'submission.completed', 'pending', svc_now(), svc_now(), svc_now()
     FROM generate_series(1, 41000)`,
    [tenantId],
  );
  await changeSettings(store, tenantId, { webhookUrl: null }, testAuthor);
  const pending = await database.query(
    "SELECT FROM deliveries WHERE tenant_id = $1 AND status = 'pending'",
    [tenantId],
  );
  expect(pending).toEqual([]);
});
