import { setTimeout as sleep } from 'node:timers/promises';
import type { Producer } from '@svc/queue';
import {
  cannotStart,
  createOutboundHttp,
  deniedCidrsOf,
  type Lifecycle,
  type Logger,
  newId,
  railRefusedStatus,
  runPeriodically,
  runUntilClosed,
  solanaRailOf,
  systemClock,
} from '@svc/runtime';
import { readWatcherFigures, type Store } from '@svc/store';
import type { SettlementConfig } from '../config.ts';
import type { Solana } from './deps.ts';
import { tickMs } from './limits.ts';
import type { SolanaMetrics } from './metrics.ts';
import { createWatcher } from './watcher.ts';

const figuresIntervalMs = 15_000;
const monotonicMs = (): number => systemClock.monotonicMs();

/**
 * Starts the watcher if the rail is on. Throws `CannotStart` for a wrong setting (CONTRACT 8). The
 * returned function returns the watcher's `problem`, or null.
 */
export async function startSolana(
  config: SettlementConfig,
  deps: {
    readonly store: Store;
    readonly producer: Producer;
    readonly logger: Logger;
    readonly metrics: () => SolanaMetrics;
  },
  lifecycle: Lifecycle,
): Promise<() => string | null> {
  const deniedCidrs = deniedCidrsOf(config);
  const rail = solanaRailOf(config);
  if (rail === null) return () => null;
  const { store, producer, logger } = deps;
  const metrics = deps.metrics();
  const { createCallBudget, createRpc, tokenAccountOf, ...solana } = await loadSolana();
  const environment = config.SVC_ENVIRONMENT;
  // The operator chooses the RPC server, so that server may be in a private network.
  const allowed = { allowPrivateNetworks: true, deniedCidrs, monotonicMs };
  const http = lifecycle.own('solana http', createOutboundHttp(allowed));
  const closing = new AbortController();
  const perSecond = config.SOLANA_RPC_PER_SECOND;
  const budget = createCallBudget({ perSecond, monotonicMs, sleep: (ms) => sleep(ms) });
  const rpc = createRpc({ url: rail.rpcUrl, http, budget, signal: closing.signal });
  const { recipient, mint } = rail;
  const check = await solana.checkRail(metrics.counted(rpc), { environment, recipient, mint });
  if (check.kind === 'refused') return cannotStart(check.sentence, railRefusedStatus);
  if (check.kind === 'unreachable') {
    logger.warn(
      { reason: check.reason },
      'the Solana RPC server gave no usable answer; settlement tries again',
    );
  }
  const watcher = createWatcher(
    {
      store,
      producer,
      logger,
      clock: systemClock,
      solana,
      rpc: metrics.counted(rpc),
      rail,
      environment,
      tokenAccount: await tokenAccountOf(recipient, mint),
      holder: newId(),
      countPayment: metrics.countPayment,
    },
    check.kind === 'sound',
  );
  lifecycle.own('solana lease', watcher);
  const task = { name: 'solana watcher', intervalMs: tickMs, run: () => watcher.tick(), logger };
  const repeating = runPeriodically(task);
  lifecycle.add(task.name, () => {
    closing.abort();
    return repeating.close();
  });
  runUntilClosed(lifecycle, {
    name: 'solana figures',
    intervalMs: figuresIntervalMs,
    run: async () => metrics.setFigures(await readWatcherFigures(store)),
    logger,
  });
  return () => watcher.problem();
}

type Loaded = Solana &
  Pick<typeof import('@svc/solana'), 'createCallBudget' | 'createRpc' | 'tokenAccountOf'>;

/**
 * Loads the Solana libraries, which takes a quarter of a second of CPU. A process without the rail
 * does not call this.
 */
async function loadSolana(): Promise<Loaded> {
  const {
    checkGenesis,
    checkRail,
    createCallBudget,
    createRpc,
    listSignatures,
    readSlot,
    readTransaction,
    signaturesPerPageMax,
    tokenAccountOf,
  } = await import('@svc/solana');
  return {
    checkGenesis,
    checkRail,
    createCallBudget,
    createRpc,
    listSignatures,
    readSlot,
    readTransaction,
    signaturesPerPageMax,
    tokenAccountOf,
  };
}
