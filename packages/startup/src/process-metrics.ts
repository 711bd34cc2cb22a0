import type { QueueKey } from '@svc/contracts';
import type { Consumer } from '@svc/queue';
import { type AdminServerOptions, createDurations, exposeCounter, exposeGauge } from '@svc/runtime';
import type { Store } from '@svc/store';

type Registry = AdminServerOptions['metrics'];

export function exposeStore(
  registry: Registry,
  { poolFigures, batches }: Pick<Store, 'poolFigures' | 'batches'>,
): void {
  exposeGauge(registry, 'svc_pool_connections', (set) => {
    const { idle, busy } = poolFigures();
    set({ state: 'idle' }, idle);
    set({ state: 'busy' }, busy);
  });
  exposeGauge(registry, 'svc_pool_connections_limit', (set) => set({}, poolFigures().limit));
  exposeGauge(registry, 'svc_pool_waiting', (set) => set({}, poolFigures().waiting));
  exposeCounter(registry, 'svc_store_batches_total', () => batches.count);
  exposeCounter(registry, 'svc_store_batched_calls_total', () => batches.calls);
}

export function createJobDurations(
  registry: Registry,
  queue: QueueKey,
): (result: 'done' | 'failed', seconds: number) => void {
  const observe = createDurations(registry, 'svc_queue_job_duration_seconds');
  return (result, seconds) => observe({ queue, result }, seconds);
}

export function exposeConsumer(registry: Registry, queue: QueueKey, consumer: Consumer): void {
  exposeGauge(registry, 'svc_queue_jobs_in_progress', (set) =>
    set({ queue }, consumer.inProgress()),
  );
  exposeGauge(registry, 'svc_queue_concurrency_limit', (set) =>
    set({ queue }, consumer.concurrency),
  );
}
