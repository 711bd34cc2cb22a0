import { webhookAgeMaxMs, webhookAttemptsMax } from '@svc/domain';
import { expect, test } from 'vitest';
import { cancelSubmission } from '../endings/endings.ts';
import { claimFor, createFixture } from '../store.fixture.ts';
import { attemptClaimMs } from './deliveries.ts';
import { listDeliveries } from './list.ts';
import { redeliver } from './redelivery.ts';

test.each(['attempts', 'hours'])(
  'a redelivery sends a pending delivery whose %s are used up',
  async (what) => {
    const fixture = await createFixture();
    const { store } = fixture;
    const tenantId = await fixture.tenant(1_000, 'https://hooks.example.com/');
    const { id: submissionId } = await fixture.hold(tenantId);
    await cancelSubmission(store, { submissionId, tenantId, by: 'tenant' });
    const page = { status: null, afterId: null, limit: 1 };
    const [{ id: deliveryId } = { id: '' }] = await listDeliveries(store, tenantId, page);
    if (what === 'hours') await fixture.advance(webhookAgeMaxMs);
    else
      for (let number = 1; number <= webhookAttemptsMax; number += 1) {
        await claimFor(store, tenantId);
        await fixture.advance(attemptClaimMs);
      }
    expect(await redeliver(store, { tenantId, deliveryId })).toEqual({ kind: 'queued' });
    expect(await claimFor(store, tenantId)).toMatchObject([{ deliveryId, attemptNumber: 1 }]);
  },
);
