import { webhookAgeMaxMs, webhookAttemptsMax } from '@svc/domain';
import { expect, test } from 'vitest';
import { createFixture, type Fixture } from '../store.fixture.ts';
import { endpointTools } from '../webhook-endpoints/endpoints.fixture.ts';
import { recordAttempt } from './attempts.ts';
import { claimDue } from './claims.ts';
import { attemptClaimMs } from './deliveries.ts';
import { listDeliveries } from './list.ts';
import { redeliver } from './redelivery.ts';

const url = 'https://hooks.example.com/';
const page = { status: null, afterId: null, limit: 1 };

/** A tenant with one delivery, to the URL of its settings or to an endpoint. */
async function oneDelivery(fixture: Fixture, at: 'settings' | 'endpoint') {
  const { store } = fixture;
  const tenantId = await fixture.tenant(1_000, at === 'settings' ? url : null);
  const { endpoint, cancelOne } = endpointTools(fixture, url);
  const targetId = at === 'settings' ? null : await endpoint(tenantId);
  await cancelOne(tenantId);
  const [{ id: deliveryId } = { id: '' }] = await listDeliveries(store, tenantId, page);
  const claim = async (attemptsMax: number) => {
    const [claimed] = await claimDue(store, [{ tenantId, targetId, attemptsMax: 1 }], attemptsMax);
    return claimed?.attempts ?? [];
  };
  return { tenantId, deliveryId, claim };
}

test.each(['settings', 'endpoint'] as const)(
  'a redelivery is sent if the schedule of its %s delivery has become shorter than its attempts',
  async (at) => {
    const fixture = await createFixture();
    const { store } = fixture;
    const { tenantId, deliveryId, claim } = await oneDelivery(fixture, at);
    for (let number = 1; number <= 3; number += 1) {
      const [attempt] = await claim(webhookAttemptsMax);
      if (attempt === undefined) throw new Error('nothing to claim');
      const failed = { statusCode: 500, durationMs: 1, error: null, responseText: null };
      await recordAttempt(store, { ...attempt, ...failed, verdict: { kind: 'retry', delayMs: 1 } });
      await fixture.advance(1_000);
    }
    expect(await redeliver(store, { tenantId, deliveryId })).toEqual({ kind: 'queued' });
    expect(await claim(2)).toMatchObject([{ deliveryId, round: 2, attemptNumber: 1 }]);
  },
);

test.each(['eight attempts', 'two attempts', 'hours'])(
  'a redelivery sends a pending delivery whose %s are used up',
  async (what) => {
    const fixture = await createFixture();
    const { store } = fixture;
    const attemptsMax = what === 'eight attempts' ? webhookAttemptsMax : 2;
    const { tenantId, deliveryId, claim } = await oneDelivery(fixture, 'settings');
    if (what === 'hours') await fixture.advance(webhookAgeMaxMs);
    else
      for (let number = 1; number <= attemptsMax; number += 1) {
        await claim(attemptsMax);
        await fixture.advance(attemptClaimMs);
      }
    expect(await redeliver(store, { tenantId, deliveryId })).toEqual({ kind: 'queued' });
    expect(await claim(attemptsMax)).toMatchObject([{ deliveryId, attemptNumber: 1 }]);
  },
);
