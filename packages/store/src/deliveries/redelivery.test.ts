import { webhookAgeMaxMs, webhookAttemptsMax } from '@svc/domain';
import { expect, test } from 'vitest';
import { cancelSubmission } from '../endings/endings.ts';
import { createFixture } from '../store.fixture.ts';
import { claimDue } from './claims.ts';
import { attemptClaimMs } from './deliveries.ts';
import { listDeliveries } from './list.ts';
import { redeliver } from './redelivery.ts';

test.each(['eight attempts', 'two attempts', 'hours'])(
  'a redelivery sends a pending delivery whose %s are used up',
  async (what) => {
    const fixture = await createFixture();
    const { store } = fixture;
    const attemptsMax = what === 'eight attempts' ? webhookAttemptsMax : 2;
    const tenantId = await fixture.tenant(1_000, 'https://hooks.example.com/');
    const { id: submissionId } = await fixture.hold(tenantId);
    await cancelSubmission(store, { submissionId, tenantId, by: 'tenant' });
    const page = { status: null, afterId: null, limit: 1 };
    const [{ id: deliveryId } = { id: '' }] = await listDeliveries(store, tenantId, page);
    const claim = async () => {
      const [claimed] = await claimDue(store, [{ tenantId, attemptsMax: 1 }], attemptsMax);
      return claimed?.attempts ?? [];
    };
    if (what === 'hours') await fixture.advance(webhookAgeMaxMs);
    else
      for (let number = 1; number <= attemptsMax; number += 1) {
        await claim();
        await fixture.advance(attemptClaimMs);
      }
    expect(await redeliver(store, { tenantId, deliveryId })).toEqual({ kind: 'queued' });
    expect(await claim()).toMatchObject([{ deliveryId, attemptNumber: 1 }]);
  },
);
