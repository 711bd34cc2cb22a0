import type { Producer } from '@svc/queue';
import type { Clock, Logger, SolanaRail } from '@svc/runtime';
import type { Rpc } from '@svc/solana';
import type { Store } from '@svc/store';

/** The client library, which only a process with the rail loads. */
export type Solana = Pick<
  typeof import('@svc/solana'),
  'checkGenesis' | 'checkRail' | 'listSignatures' | 'readTransaction' | 'signaturesPerPageMax'
>;

export interface WatcherDeps {
  readonly store: Store;
  readonly producer: Producer;
  readonly logger: Logger;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly solana: Solana;
  readonly rpc: Rpc;
  readonly rail: SolanaRail;
  readonly environment: 'sandbox' | 'production';
  /** The associated token account of the recipient. */
  readonly tokenAccount: string;
  /** The name of this process in the lease. */
  readonly holder: string;
  readonly countPayment: (kind: string) => void;
}

/** The lease of this process while it watches. */
export interface Lease {
  readonly epoch: bigint;
  /** The database's time of the last renewal. */
  at(): Date;
  /** Renews the lease if it is due. Throws `LeaseLost` if another process has it. */
  keep(): Promise<void>;
}
