import { createSurgeBoard, type connectRedis } from '@svc/queue';
import type { Lifecycle } from '@svc/runtime';
import type { Dispatcher } from './dispatcher.ts';
import { followNodes } from './fleet/follow-nodes.ts';
import { startSurge } from './fleet/surge.ts';
import type { DispatcherMetrics } from './metrics.ts';
import { stopEndedRuns } from './runs/ended-runs.ts';

export function startBackgroundWork(
  dispatcher: Dispatcher,
  {
    redis,
    prefix,
    lifecycle,
    metrics,
  }: {
    readonly redis: ReturnType<typeof connectRedis>;
    readonly prefix: string;
    readonly lifecycle: Lifecycle;
    readonly metrics: DispatcherMetrics;
  },
): void {
  const { store, fleet, logger } = dispatcher;
  lifecycle.own('node changes', followNodes(dispatcher));
  lifecycle.own('ended runs', stopEndedRuns(dispatcher));
  const board = createSurgeBoard({ redis, prefix });
  lifecycle.own(
    'surge',
    startSurge({ store, fleet, board, logger, onMultiplier: metrics.setSurge }),
  );
}
