/**
 * A Grafana dashboard. `unit` is the unit of a panel's values. `queries` maps the text of each
 * legend to its PromQL query.
 */
export interface Board {
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly (readonly [
    title: string,
    panel: { readonly unit: string; readonly queries: Readonly<Record<string, string>> },
  ])[];
}

// Each `rate` in this file covers two minutes, because a fault that began a minute ago would hardly
// show in a rate over five minutes.

const created = 'route="/v1/submissions",method="POST"';

function p99(histogram: string, selector = '', by = ''): string {
  const labels = by === '' ? 'le' : `le, ${by}`;
  return `histogram_quantile(0.99, sum by (${labels}) (rate(${histogram}_bucket${selector}[2m])))`;
}

function panel(unit: string, queries: Readonly<Record<string, string>>) {
  return { unit, queries };
}

const overview: Board = {
  uid: 'svc-overview',
  title: 'Service overview',
  panels: [
    ['Processes that answer', panel('none', { '{{job}}': 'sum by (job) (up{job=~"svc-.*"})' })],
    [
      'Alerts',
      panel('none', { '{{alertname}}': 'count by (alertname) (ALERTS{alertstate="firing"})' }),
    ],
    ['Linked nodes', panel('none', { nodes: 'sum(svc_dispatcher_links)' })],
    ['Slots', panel('none', { '{{state}}': 'max by (state) (svc_fleet_slots)' })],
    [
      'Creations by status',
      panel('reqps', {
        '{{status}}': `sum by (status) (rate(svc_gateway_request_duration_seconds_count{${created}}[2m]))`,
      }),
    ],
    [
      'Duration of creations',
      panel('s', { p99: p99('svc_gateway_request_duration_seconds', `{${created}}`) }),
    ],
    [
      'Submissions in flight',
      panel('none', { '{{state}}': 'max by (state) (svc_submissions_in_flight)' }),
    ],
    [
      'Oldest submission by state',
      panel('s', { '{{state}}': 'max by (state) (svc_submissions_oldest_age_seconds)' }),
    ],
    [
      'Jobs that wait',
      panel('none', { '{{queue}}': 'max by (queue) (svc_queue_jobs{state="waiting"})' }),
    ],
    ['Oldest job', panel('s', { '{{queue}}': 'max by (queue) (svc_queue_oldest_age_seconds)' })],
    [
      'Event loop delay',
      panel('s', { '{{job}} {{instance}}': 'nodejs_eventloop_lag_p99_seconds{job=~"svc-.*"}' }),
    ],
    [
      'Calls that wait for a connection to Postgres',
      panel('none', { '{{service}}': 'sum by (service) (svc_pool_waiting)' }),
    ],
    [
      'Burn rate of the error budget, last hour',
      panel('none', {
        availability: 'svc:creation_errors:ratio_rate1h / 0.001',
        latency: 'svc:creation_slow:ratio_rate1h / 0.01',
        settlement: 'svc:settlement_late:ratio_rate1h / 0.01',
        'first delivery': 'svc:first_delivery_late:ratio_rate1h / 0.01',
      }),
    ],
    [
      'Age of the shared metrics',
      panel('s', { '{{source}}': 'time() - max by (source) (svc_figures_read_timestamp_seconds)' }),
    ],
  ],
};

const money: Board = {
  uid: 'svc-money',
  title: 'Money',
  panels: [
    ['Credits in holds', panel('none', { credits: 'max(svc_held_credits)' })],
    [
      'Settlements by state',
      panel('ops', { '{{state}}': 'sum by (state) (rate(svc_submissions_settled_total[2m]))' }),
    ],
    ['Settlement lag', panel('s', { p99: p99('svc_settlement_lag_seconds') })],
    [
      'Repairs and dead letters',
      panel('none', {
        '{{kind}}': 'sum by (kind) (increase(svc_submissions_reconciled_total[5m]))',
        'dead letters of {{service}}': 'max by (service) (svc_dead_letters)',
      }),
    ],
    [
      'Faults',
      panel('none', {
        ledger: 'max(svc_ledger_faults)',
        'audit log': 'max(svc_audit_faults)',
        'last ledger audit failed': 'max(svc_ledger_audit_failed)',
      }),
    ],
    [
      'Time since the last ledger audit',
      panel('s', {
        'new entries': 'time() - (max(svc_ledger_audited_timestamp_seconds) > 0)',
        'whole ledger': 'time() - (max(svc_ledger_full_audited_timestamp_seconds) > 0)',
      }),
    ],
    [
      'Capped usage',
      panel('none', {
        '{{state}}': 'sum by (state) (increase(svc_submissions_usage_capped_total[5m]))',
      }),
    ],
    [
      'Solana payments',
      panel('none', {
        lag: 'max(svc_solana_lag_seconds)',
        unexplained: 'max(svc_solana_unexplained_payments)',
        unread: 'max(svc_solana_unread_signatures)',
      }),
    ],
  ],
};

const fleet: Board = {
  uid: 'svc-fleet',
  title: 'Fleet',
  panels: [
    ['Slots', panel('none', { '{{state}}': 'max by (state) (svc_fleet_slots)' })],
    ['Nodes', panel('none', { '{{state}}': 'max by (state) (svc_fleet_nodes)' })],
    [
      'Links by dispatcher',
      panel('none', { '{{instance}}': 'sum by (instance) (svc_dispatcher_links)' }),
    ],
    [
      'Offers by answer',
      panel('ops', {
        '{{answer}}': 'sum by (answer) (rate(svc_dispatcher_offer_duration_seconds_count[2m]))',
      }),
    ],
    [
      'Time to answer an offer',
      panel('s', { '{{answer}} p99': p99('svc_dispatcher_offer_duration_seconds', '', 'answer') }),
    ],
    [
      'Frames by type',
      panel('ops', {
        '{{type}}': 'sum by (type) (rate(svc_dispatcher_frame_duration_seconds_count[2m]))',
      }),
    ],
    [
      'Bad frames',
      panel('ops', { '{{code}}': 'sum by (code) (rate(svc_dispatcher_bad_frames_total[2m]))' }),
    ],
    ['Surge multiplier', panel('none', { multiplier: 'max(svc_surge_multiplier)' })],
  ],
};

const webhooks: Board = {
  uid: 'svc-webhooks',
  title: 'Webhooks',
  panels: [
    [
      'Attempts by verdict',
      panel('ops', { '{{verdict}}': 'sum by (verdict) (rate(svc_webhook_attempts_total[2m]))' }),
    ],
    [
      'Duration of requests',
      panel('s', { '{{result}} p99': p99('svc_webhook_attempt_duration_seconds', '', 'result') }),
    ],
    ['Lag of the first attempt', panel('s', { p99: p99('svc_webhook_first_attempt_lag_seconds') })],
    ['Deliveries that are due', panel('none', { due: 'max(svc_deliveries_due)' })],
    ['Oldest due delivery', panel('s', { age: 'max(svc_deliveries_oldest_due_age_seconds)' })],
    [
      'Requests in flight',
      panel('none', {
        'in flight': 'sum(svc_webhook_requests_in_flight)',
        limit: 'sum(svc_webhook_requests_limit)',
      }),
    ],
    [
      'Endpoints with an open breaker',
      panel('none', { endpoints: 'sum(svc_webhook_breakers_open)' }),
    ],
  ],
};

/** The dashboards that `pnpm alerts` writes to `infra/grafana`. */
export const boards: readonly Board[] = [overview, money, fleet, webhooks];
