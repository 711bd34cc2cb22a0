import type { ReceivedWebhook } from '@svc/local';
import { listOf, microsOf, textOf } from '../load/json.ts';
import { type FinalRecord, inWords, type TenantBooks } from './books.ts';
import type { Findings } from './findings.ts';

const endEvents: Readonly<Record<string, string>> = {
  'submission.completed': 'submitted',
  'submission.failed': 'failed',
  'submission.cancelled': 'cancelled',
};

export function auditEvents(
  findings: Findings,
  { tenant, records, deliveries }: TenantBooks,
): void {
  if (tenant.receiver === undefined) {
    findings.expect(
      'a tenant without a webhook URL has no deliveries',
      deliveries.length === 0,
      tenant.name,
      () => `${deliveries.length} deliveries`,
    );
    return;
  }
  const { received } = tenant.receiver;
  const about = Map.groupBy(received, ({ event }) => textOf(event.data['submissionId']) ?? '');
  for (const record of records) auditEnd(findings, record, about.get(record.id) ?? []);
  const ids = new Set(records.map(({ id }) => id));
  for (const [id, webhooks] of about) {
    findings.expect(
      'every event that names a submission names one that exists',
      id === '' || ids.has(id),
      id,
      () => webhooks.map(({ event }) => event.type).join(', '),
    );
  }
  auditAttempts(findings, received);
  auditDeliveries(findings, deliveries, received);
}

function auditEnd(
  findings: Findings,
  record: FinalRecord,
  webhooks: readonly ReceivedWebhook[],
): void {
  const ends = webhooks.filter(({ event }) => endEvents[event.type] !== undefined);
  const isRight = ends.every(
    ({ event }) =>
      endEvents[event.type] === record.status &&
      event.data['status'] === record.status &&
      microsOf(event.data['actualCredits']) === record.chargedMicros &&
      microsOf(event.data['refundedCredits']) === record.refundedMicros,
  );
  const describe = (): string =>
    `its record reads ${inWords(record)}; webhooks: ${webhooks.map(describeWebhook).join('; ')}`;
  findings.expect(
    'every end of a submission is reported by one event with the right figures',
    ends.length > 0 && new Set(ends.map(({ event }) => event.id)).size === 1 && isRight,
    record.id,
    describe,
  );
  const late = webhooks.filter(({ event }) => event.type === 'submission.late_outcome');
  findings.expect(
    'every late outcome is reported by one event',
    (record.lateStatus === null ? 0 : 1) === new Set(late.map(({ event }) => event.id)).size,
    record.id,
    describe,
  );
}

function describeWebhook({ event, attempt }: ReceivedWebhook): string {
  return `${event.id} ${event.type} ${JSON.stringify(event.data)} #${attempt}`;
}

function auditAttempts(findings: Findings, received: readonly ReceivedWebhook[]): void {
  const byDelivery = Map.groupBy(received, ({ deliveryId }) => deliveryId);
  for (const [deliveryId, webhooks] of byDelivery) {
    const numbers = webhooks.map(({ attempt }) => attempt);
    findings.expect(
      'each attempt of a delivery has its own number, from 1 to 8',
      new Set(numbers).size === numbers.length && numbers.every((n) => n >= 1 && n <= 8),
      deliveryId,
      () => `attempts ${numbers.join(', ')} arrived`,
    );
    const bodies = new Set(webhooks.map(({ body }) => body));
    findings.expect(
      'every attempt of a delivery carries the same event',
      bodies.size === 1,
      deliveryId,
      () => [...bodies].join(' and '),
    );
  }
}

function auditDeliveries(
  findings: Findings,
  deliveries: TenantBooks['deliveries'],
  received: readonly ReceivedWebhook[],
): void {
  const arrived = Map.groupBy(received, ({ deliveryId }) => deliveryId);
  for (const delivery of deliveries) {
    const id = textOf(delivery['id']) ?? '';
    const came = arrived.get(id)?.length ?? 0;
    findings.expect(
      'every delivery has arrived, and the API lists each attempt that arrived',
      delivery['status'] === 'delivered' && came > 0 && listOf(delivery['attempts']).length >= came,
      id,
      () => `${came} attempts arrived; the delivery reads ${JSON.stringify(delivery)}`,
    );
  }
}
