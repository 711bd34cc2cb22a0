import { createCounter, createGauge, type createMetrics } from '@svc/runtime';
import type { Rpc } from '@svc/solana';
import type { WatcherFigures } from '@svc/store';

export interface SolanaMetrics {
  readonly countPayment: (kind: string) => void;
  readonly setFigures: (figures: WatcherFigures) => void;
  /** The same client, with its calls counted. */
  readonly counted: (rpc: Rpc) => Rpc;
}

/** The metrics of the rail. They exist only while it is on. */
export function createSolanaMetrics(registry: ReturnType<typeof createMetrics>): SolanaMetrics {
  const countCall = createCounter(registry, {
    name: 'svc_solana_rpc_calls_total',
    help: 'Calls of the Solana RPC server, by outcome',
    label: 'outcome',
  });
  const setLag = createGauge(registry, {
    name: 'svc_solana_lag_seconds',
    help: 'Seconds since the last complete list of a token account with an open intent: alert above 60',
  });
  const setUnexplained = createGauge(registry, {
    name: 'svc_solana_unexplained_payments',
    help: 'Incoming payments that granted nothing, at most 1000: alert on any',
  });
  const setUnread = createGauge(registry, {
    name: 'svc_solana_unread_signatures',
    help: 'Transactions that could not be read and are retried: alert if it stays above 0',
  });
  const setOpen = createGauge(registry, {
    name: 'svc_solana_open_intents',
    help: 'Purchase intents that a payment may still complete',
  });
  return {
    countPayment: createCounter(registry, {
      name: 'svc_solana_payments_total',
      help: 'Solana transactions that were read as payments, by outcome',
      label: 'kind',
    }),
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
