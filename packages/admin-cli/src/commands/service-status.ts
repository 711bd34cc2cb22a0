import { creditsToNumber } from '@svc/domain';
import {
  type HeardInstance,
  listServices,
  presenceSilentMs,
  createFleetRegistry,
  type QueueStatus,
  readPublishedSurge,
  readQueueStatus,
} from '@svc/queue';
import {
  countInFlight,
  countNodes,
  databaseNow,
  type DeadLetters,
  type InFlightCounts,
  type LedgerAuditStatus,
  type NodeCounts,
  readDeadLetters,
  readLedgerAudit,
} from '@svc/store';
import type { Context } from '../context.ts';
import { tryRedis } from '../redis.ts';

/** `live` is null if `REDIS_URL` is not set or Redis cannot be reached. */
export interface ServiceStatus {
  readonly environment: string;
  readonly databaseTime: Date;
  readonly inFlight: InFlightCounts;
  readonly nodes: NodeCounts;
  readonly ledger: LedgerAuditStatus | null;
  readonly deadLetters: DeadLetters;
  readonly live: LiveStatus | null;
  /** A sentence about what is wrong in `REDIS_URL`. Null if nothing is known to be wrong. */
  readonly redisFault: string | null;
}

interface LiveStatus {
  readonly services: readonly HeardInstance[];
  readonly queues: readonly QueueStatus[];
  readonly fleet: { readonly slots: number; readonly free: number };
  /** The surge multiplier in force. Null if no dispatcher publishes one. */
  readonly surge: number | null;
}

/** The status lists at most this many dead letters, in the order of their first failure. */
const deadLettersListedMax = 20;

/**
 * Stays cheap in a database with a long history, because its queries do not scan the submissions
 * and deliveries that have ended.
 */
export async function readServiceStatus(context: Context): Promise<ServiceStatus> {
  const { configuration, store } = context;
  const [databaseTime, inFlight, nodes, ledger, deadLetters, live] = await Promise.all([
    databaseNow(store),
    countInFlight(store),
    countNodes(store),
    readLedgerAudit(store),
    readDeadLetters(store, deadLettersListedMax),
    tryRedis(context, ({ redis, prefix }) => readLive(redis, prefix)),
  ]);
  return {
    environment: configuration.SVC_ENVIRONMENT,
    databaseTime,
    inFlight,
    nodes,
    ledger,
    deadLetters,
    live: live.kind === 'done' ? live.value : null,
    redisFault: live.kind === 'away' ? (live.fault ?? null) : null,
  };
}

type Redis = Parameters<typeof listServices>[0];

async function readLive(redis: Redis, prefix: string): Promise<LiveStatus> {
  const [services, queues, fleet, surge] = await Promise.all([
    listServices(redis, prefix),
    readQueueStatus(redis, prefix),
    createFleetRegistry({ redis, prefix }).capacity(),
    readPublishedSurge(redis, prefix),
  ]);
  return {
    services,
    queues,
    fleet,
    surge: surge === null ? null : creditsToNumber(BigInt(surge)),
  };
}

export function isHeard({ silentMs }: HeardInstance): boolean {
  return silentMs < presenceSilentMs;
}
