import { answered } from './calls.ts';
import type { Lease, WatcherDeps } from './deps.ts';
import { slotsAheadMax } from './limits.ts';

/** The newest finalized slot, by the RPC server's last answer. */
export interface ChainSlot {
  /** 0: not asked yet. */
  newest: number;
}

/** Asks for the chain's newest slot. Throws `RpcUnavailable` or `LeaseLost`. */
export async function askForSlot(
  { solana, rpc }: Pick<WatcherDeps, 'solana' | 'rpc'>,
  lease: Pick<Lease, 'keep'>,
  chain: ChainSlot,
): Promise<void> {
  await lease.keep();
  chain.newest = answered(await solana.readSlot(rpc)).slot;
}

/**
 * The highest slot to which a cursor may be moved. A cursor beyond the chain would leave out all
 * later payments.
 */
export function slotMaxOf({ newest }: ChainSlot): number {
  return newest + slotsAheadMax;
}
