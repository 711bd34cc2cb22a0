import { waitForRedis } from '@svc/queue';
import { type Logger, openResources, type Running, systemClock } from '@svc/runtime';
import {
  openRedis,
  openServiceTracing,
  openStoreOrRefuse,
  redisWaitMsMax,
  startWorker,
} from '@svc/startup';
import { startAuditHead } from './audit-head.ts';
import type { SettlementConfig } from './config.ts';
import { startFigures } from './figures.ts';
import { startHousekeeping } from './housekeeping.ts';
import { createSettlementMetrics } from './metrics.ts';
import { reconcile, type ReconcileProgress } from './reconcile.ts';
import { startRetention } from './retention.ts';
import { settleSubmissions } from './settle.ts';
import { createSolanaMetrics } from './solana/metrics.ts';
import { startSolana } from './solana/start.ts';

/**
 * Starts the service. Its `close` closes the resources in reverse order of opening, and waits for
 * running work. `close` resolves after 10 s at the latest.
 */
export function run(
  config: SettlementConfig,
  { logger }: { readonly logger: Logger },
): Promise<Running> {
  return openResources(logger, async (lifecycle) => {
    const opening = { service: 'settlement', config, lifecycle, logger } as const;
    const { registry: metrics, ...counters } = createSettlementMetrics();
    const concurrency = config.SETTLEMENT_CONCURRENCY;
    const batchMax = config.DELETION_BATCH_MAX;
    const jobs = { variable: 'SETTLEMENT_CONCURRENCY', jobsMax: concurrency };
    const { store } = await openStoreOrRefuse(opening, { jobs });
    const retentionDays = config.PAYLOAD_RETENTION_DAYS;
    await startHousekeeping(
      { store, logger, retentionDays, pageMax: batchMax, ...counters },
      lifecycle,
    );
    const kept = {
      usageDays: config.USAGE_RETENTION_DAYS,
      deliveryDays: config.DELIVERY_RETENTION_DAYS,
    };
    startRetention({ store, logger, ...kept, batchMax, ...counters }, lifecycle);
    startAuditHead({ store, logger, ...counters }, lifecycle);
    const { redis, producer } = await openRedis(opening);
    await waitForRedis(redis, redisWaitMsMax);
    const tracing = openServiceTracing(opening, { store, metrics });
    const { REDIS_PREFIX: redisPrefix } = config;
    const deps = { store, tracing, producer, logger, redis, redisPrefix, ...counters };
    const figures = { store, redis, redisPrefix, registry: metrics, clock: systemClock, logger };
    await startFigures(figures, lifecycle);
    const railProblem = await startSolana(
      config,
      { store, producer, logger, metrics: () => createSolanaMetrics(metrics) },
      lifecycle,
    );
    const progress: ReconcileProgress = { after: null };
    return await startWorker(opening, {
      store,
      redis,
      queue: 'settlement',
      handle: ({ submissionIds }) => settleSubmissions(deps, submissionIds),
      reconcile: () => reconcile(deps, progress),
      reconcilers: ['settlement', 'purge'],
      setDeadLetters: counters.setDeadLetters,
      metrics,
      facts: { retentionDays, ...kept },
      concurrency,
      problem: railProblem,
    });
  });
}
