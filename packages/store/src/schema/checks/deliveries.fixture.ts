import { at, id, type CheckCase } from './check-case.fixture.ts';

export const deliveryChecks: readonly CheckCase[] = [
  {
    table: 'deliveries',
    check: 'deliveries_status',
    accepts: ['pending', 'delivered', 'exhausted', 'dropped', 'queued', 'waiting'].map(
      (status) => ({
        status,
      }),
    ),
    refuses: [{ status: 'lost' }],
  },
  {
    table: 'deliveries',
    check: 'deliveries_attempts',
    accepts: [
      { attempt_count: 0, round: 1 },
      { attempt_count: 8, round: 1 },
    ],
    refuses: [
      { attempt_count: -1, round: 1 },
      { attempt_count: 9, round: 1 },
      { attempt_count: 0, round: 0 },
    ],
  },
  {
    table: 'deliveries',
    check: 'deliveries_due_while_pending',
    accepts: [
      { status: 'pending', next_attempt_at: at },
      { status: 'queued', next_attempt_at: at },
      { status: 'waiting', next_attempt_at: null },
      { status: 'delivered', next_attempt_at: null },
    ],
    refuses: [
      { status: 'queued', next_attempt_at: null },
      { status: 'waiting', next_attempt_at: at },
      { status: 'pending', next_attempt_at: null },
      { status: 'delivered', next_attempt_at: at },
    ],
  },
  {
    table: 'deliveries',
    check: 'deliveries_target',
    accepts: [
      { status: 'pending', target_id: null, endpoint_id: null, position: null },
      { status: 'queued', target_id: id, endpoint_id: null, position: null },
      { status: 'waiting', target_id: id, endpoint_id: id, position: 1 },
      { status: 'dropped', target_id: null, endpoint_id: null, position: null },
    ],
    refuses: [
      { status: 'pending', target_id: id, endpoint_id: null, position: null },
      { status: 'queued', target_id: null, endpoint_id: null, position: null },
      { status: 'waiting', target_id: id, endpoint_id: id, position: null },
      { status: 'waiting', target_id: null, endpoint_id: null, position: 1 },
      { status: 'dropped', target_id: null, endpoint_id: id, position: null },
    ],
  },
  {
    table: 'webhook_endpoints',
    check: 'webhook_endpoints_kind',
    accepts: [
      { kind: 'push', url: 'https://x.example' },
      { kind: 'poll', url: null },
    ],
    refuses: [
      { kind: 'push', url: null },
      { kind: 'poll', url: 'https://x.example' },
      { kind: 'pull', url: null },
    ],
  },
  {
    table: 'webhook_endpoints',
    check: 'webhook_endpoints_texts',
    accepts: [
      { url: 'u', description: 'd', events: null },
      { url: 'u'.repeat(2048), description: 'd'.repeat(256), events: '{webhook.test}' },
    ],
    refuses: [
      { url: '', description: 'd', events: null },
      { url: 'u'.repeat(2049), description: 'd', events: null },
      { url: 'u', description: 'd'.repeat(257), events: null },
      { url: 'u', description: 'd', events: '{}' },
      { url: 'u', description: 'd', events: '{NULL}' },
      { url: 'u', description: 'd', events: `{${Array.from({ length: 51 }, () => 'x').join()}}` },
    ],
  },
  {
    table: 'webhook_endpoints',
    check: 'webhook_endpoints_secrets',
    accepts: [
      { secret_version: 1, previous_secret_sealed: null, previous_secret_expires_at: null },
      { secret_version: 2, previous_secret_sealed: '\\x01', previous_secret_expires_at: at },
    ],
    refuses: [
      { secret_version: 0, previous_secret_sealed: null, previous_secret_expires_at: null },
      { secret_version: 2, previous_secret_sealed: '\\x01', previous_secret_expires_at: null },
      { secret_version: 2, previous_secret_sealed: null, previous_secret_expires_at: at },
    ],
  },
  {
    table: 'webhook_endpoints',
    check: 'webhook_endpoints_disabled',
    accepts: [
      { disabled_at: null, disabled_reason: null },
      { disabled_at: at, disabled_reason: 'gone' },
    ],
    refuses: [
      { disabled_at: at, disabled_reason: null },
      { disabled_at: null, disabled_reason: 'gone' },
    ],
  },
  {
    table: 'webhook_endpoints',
    check: 'webhook_endpoints_position',
    accepts: [{ last_position: 0 }],
    refuses: [{ last_position: -1 }],
  },
  {
    table: 'delivery_attempts',
    check: 'delivery_attempts_number',
    accepts: [
      { number: 1, round: 1 },
      { number: 8, round: 1 },
    ],
    refuses: [
      { number: 0, round: 1 },
      { number: 9, round: 1 },
      { number: 1, round: 0 },
    ],
  },
  {
    table: 'webhook_caps',
    check: 'webhook_caps_figures',
    accepts: [{ attempts_per_hour: 1, attempts: 0 }],
    refuses: [
      { attempts_per_hour: 0, attempts: 0 },
      { attempts_per_hour: 1, attempts: -1 },
    ],
  },
];
