import { createCounter, createGauge, createMetrics } from '@svc/runtime';

/** The deliverer's own figures, beside those of every process. */
export function createWebhooksMetrics() {
  const registry = createMetrics('webhooks');
  return {
    registry,
    countAttempt: createCounter(registry, {
      name: 'svc_webhook_attempts_total',
      help: 'Webhook attempts, by what followed from them',
      label: 'verdict',
    }),
    setDeadLetters: createGauge(registry, {
      name: 'svc_dead_letters',
      help: 'Deliveries that could not be ended five times or more: alert on any',
    }),
  };
}
