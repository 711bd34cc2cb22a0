import type { Producer } from '@svc/queue';
import type { Clock, Logger, SolanaRail } from '@svc/runtime';
import type { Rpc } from '@svc/solana';
import type { Store } from '@svc/store';

/**
 * The members of the Solana client library that the watcher uses. They are passed in, because a
 * process without the rail does not load the library.
 */
export type Solana = Pick<
  typeof import('@svc/solana'),
  | 'checkGenesis'
  | 'checkRail'
  | 'listSignatures'
  | 'readSlot'
  | 'readTransaction'
  | 'signaturesPerPageMax'
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
  /** The id by which the lease names this process. */
  readonly holder: string;
  readonly countPayment: (kind: string) => void;
}

export interface Lease {
  readonly epoch: bigint;
  /** The database's time at which the lease was taken or last renewed. */
  at(): Date;
  /** Renews the lease if a renewal is due. Throws `LeaseLost` if another process has taken it. */
  keep(): Promise<void>;
}
