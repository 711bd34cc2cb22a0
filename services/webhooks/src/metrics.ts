import { createCounter, createGauge, createMetrics } from '@svc/runtime';

/** The deliverer's own metrics, in addition to those of every process. */
export function createWebhooksMetrics() {
  const registry = createMetrics('webhooks');
  return {
    registry,
    countAttempt: createCounter(registry, {
      name: 'svc_webhook_attempts_total',
      help: 'Webhook attempts, by verdict',
      label: 'verdict',
    }),
    setDeadLetters: createGauge(registry, {
      name: 'svc_dead_letters',
      help: 'Deliveries that failed five times or more to be ended: alert on any',
    }),
  };
}
