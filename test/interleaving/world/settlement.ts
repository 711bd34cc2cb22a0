import { runPeriodically } from '@svc/runtime';
import { noTracing } from '@svc/tracing';
import { reconcile, type ReconcileProgress } from '../../../services/settlement/src/reconcile.ts';
import { settleSubmissions } from '../../../services/settlement/src/settle.ts';
import { SimulatedProcess } from '../schedule/process.ts';
import { redisOf, redisPrefix, start, storeOf, type Ground } from './ground.ts';

const reconcileIntervalMs = 1_000;

export class SimulatedSettlement {
  readonly process: SimulatedProcess;

  constructor(ground: Ground, name: string, skewMs: number) {
    const { scheduler, messaging, logger } = ground;
    const process = new SimulatedProcess(scheduler, name, skewMs);
    this.process = process;
    const deps = {
      store: storeOf(ground, process),
      producer: messaging.producerOf(process),
      tracing: noTracing,
      logger,
      countSettled() {},
      timeSettlement() {},
      countUsageCapped() {},
      countReconciled() {},
      redis: redisOf(ground, process),
      redisPrefix,
    };
    messaging.work('settlement', process, ({ submissionIds }) =>
      settleSubmissions(deps, submissionIds),
    );
    const progress: ReconcileProgress = { after: null };
    start(ground, process, async () => {
      runPeriodically({
        name: 'reconciler',
        intervalMs: reconcileIntervalMs,
        run: () => reconcile(deps, progress),
        logger,
      });
    });
  }

  kill(): void {
    this.process.kill();
  }
}
