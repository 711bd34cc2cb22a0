import { createSurgeBoard, type connectRedis } from '@svc/queue';
import type { Lifecycle } from '@svc/runtime';

import type { Dispatcher } from './dispatcher.ts';
import { followNodes } from './node-standing.ts';
import { startSurge } from './surge.ts';

/** What a dispatcher looks after every second or two, until it is closed. */
export function startRounds(
  dispatcher: Dispatcher,
  {
    redis,
    prefix,
    lifecycle,
  }: {
    readonly redis: ReturnType<typeof connectRedis>;
    readonly prefix: string;
    readonly lifecycle: Lifecycle;
  },
): void {
  const { store, fleet, logger } = dispatcher;
  const nodes = followNodes(dispatcher);
  lifecycle.add('node changes', () => nodes.close());
  const surge = startSurge({ store, fleet, board: createSurgeBoard({ redis, prefix }), logger });
  lifecycle.add('surge', () => surge.close());
}
