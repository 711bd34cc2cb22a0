import { createCounter, createGauge, type createMetrics } from '@svc/runtime';
import type { Rpc } from '@svc/solana';
import type { WatcherFigures } from '@svc/store';

export interface SolanaMetrics {
  readonly countPayment: (kind: string) => void;
  readonly setFigures: (figures: WatcherFigures) => void;
  readonly counted: (rpc: Rpc) => Rpc;
}

export function createSolanaMetrics(registry: ReturnType<typeof createMetrics>): SolanaMetrics {
  const countCall = createCounter(registry, 'svc_solana_rpc_calls_total');
  const setLag = createGauge(registry, 'svc_solana_lag_seconds');
  const setUnexplained = createGauge(registry, 'svc_solana_unexplained_payments');
  const setUnread = createGauge(registry, 'svc_solana_unread_signatures');
  const setOpen = createGauge(registry, 'svc_solana_open_intents');
  return {
    countPayment: createCounter(registry, 'svc_solana_payments_total'),
    setFigures({ lagSeconds, unexplained, unread, openIntents }) {
      setLag(lagSeconds);
      setUnexplained(unexplained);
      setUnread(unread);
      setOpen(openIntents);
    },
    counted: (rpc) => ({
      async call(method, params) {
        const outcome = await rpc.call(method, params);
        countCall(outcome.kind);
        return outcome;
      },
    }),
  };
}
