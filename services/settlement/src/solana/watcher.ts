import {
  endDueIntents,
  findDueQuestions,
  findUnreadDue,
  findWatchedAccounts,
  LeaseLost,
  noteWatcherState,
  releaseWatcherLease,
  takeWatcherLease,
  type WatchedAccount,
} from '@svc/store';
import { RpcUnavailable } from './calls.ts';
import type { ChainSlot } from './chain-slot.ts';
import type { Lease, WatcherDeps } from './deps.ts';
import {
  backoffMsMax,
  backoffMsMin,
  genesisCheckMs,
  idleCallMs,
  leaseMs,
  leaseRenewMs,
  pollMs,
  questionsPerTickMax,
  readsPerTickMax,
  retriesPerTickMax,
} from './limits.ts';
import {
  type AccountMemory,
  newAccountMemory,
  pollAccount,
  remember,
  startCursor,
} from './poll-account.ts';
import { askForReference } from './questions.ts';
import { readSignature } from './read-signature.ts';

export interface Watcher {
  /**
   * Does the work that is due, unless another process has the lease. Resolves even if the RPC
   * server does not answer. Rejects if Postgres fails.
   */
  tick(): Promise<void>;
  /**
   * The reason why no payment is credited. Null if no such reason is known, or if another process
   * has the lease.
   */
  problem(): string | null;
  close(): Promise<void>;
}

interface State {
  epoch: bigint | null;
  readonly accounts: Map<string, AccountMemory>;
  readonly chain: ChainSlot;
  /**
   * The monotonic time of the last successful check of the rail's terms. Null before the first
   * success. A failed call to the RPC server or a refused term sets it to null again.
   */
  checkedMs: number | null;
  /**
   * True after a check of all terms of the rail has passed. Later checks compare only the genesis
   * hash.
   */
  hasPassedAll: boolean;
  problem: string | null;
  nextCallMs: number;
  backoffMs: number;
  nextIdleMs: number;
}

/**
 * A lease in Postgres lets one process watch at a time (decision 32). If the memory of that process
 * is lost, only calls to the RPC server are repeated.
 */
export function createWatcher(deps: WatcherDeps, hasPassedAll: boolean): Watcher {
  const { store, logger, clock, holder } = deps;
  const state: State = {
    epoch: null,
    accounts: new Map(),
    chain: { newest: 0 },
    checkedMs: hasPassedAll ? clock.monotonicMs() : null,
    hasPassedAll,
    problem: null,
    nextCallMs: -Infinity,
    backoffMs: backoffMsMin,
    nextIdleMs: -Infinity,
  };
  return {
    async tick() {
      const lease = await takeLease(deps, state);
      if (lease === null) return;
      let rpcAnswered = false;
      try {
        if (clock.monotonicMs() >= state.nextCallMs) rpcAnswered = await work(deps, lease, state);
        await endDueIntents(store, lease.epoch);
        await noteWatcherState(store, lease.epoch, { rpcAnswered, problem: state.problem });
      } catch (error) {
        if (error instanceof LeaseLost) return;
        if (!(error instanceof RpcUnavailable)) throw error;
        backOff(deps, state, error);
        await noteWatcherState(store, lease.epoch, { rpcAnswered: false, problem: state.problem });
      }
    },
    problem: () => (state.checkedMs === null ? state.problem : null),
    async close() {
      await releaseWatcherLease(store, holder).catch((error: unknown) =>
        logger.warn({ err: error }, 'could not give back the lease of the Solana watcher'),
      );
    },
  };
}

async function takeLease(
  { store, holder, clock, logger }: WatcherDeps,
  state: State,
): Promise<Lease | null> {
  let taken = await takeWatcherLease(store, { holder, leaseMs });
  if (taken === null) {
    state.epoch = null;
    state.problem = null;
    return null;
  }
  const { epoch } = taken;
  if (state.epoch !== epoch) {
    logger.info({ epoch: String(epoch) }, 'this process watches the Solana payments');
    state.epoch = epoch;
    state.accounts.clear();
  }
  let renewedMs = clock.monotonicMs();
  return {
    epoch,
    at: () => taken?.at ?? new Date(0),
    async keep() {
      if (clock.monotonicMs() - renewedMs < leaseRenewMs) return;
      taken = await takeWatcherLease(store, { holder, leaseMs });
      if (taken?.epoch !== epoch) throw new LeaseLost();
      renewedMs = clock.monotonicMs();
    },
  };
}

/** Pauses all calls to the RPC server. After the pause, `checkTerms` makes the first call. */
function backOff({ logger, clock }: WatcherDeps, state: State, error: RpcUnavailable): void {
  const pauseMs = Math.max(state.backoffMs, error.retryAfterMs);
  state.nextCallMs = clock.monotonicMs() + pauseMs;
  state.backoffMs = Math.min(state.backoffMs * 2, backoffMsMax);
  state.checkedMs = null;
  state.problem = error.message;
  logger.warn({ reason: error.message, pauseMs }, 'a call to the Solana RPC server failed');
}

/**
 * Makes the calls to the RPC server that are due. Returns true if the caller must record that the
 * server has answered (`rpcAnswered`). Throws `RpcUnavailable` if a call fails.
 */
async function work(deps: WatcherDeps, lease: Lease, state: State): Promise<boolean> {
  const { store, clock } = deps;
  const watched = withConfigured(await findWatchedAccounts(store), deps);
  const isOpen = watched.some((account) => account.isOpen);
  const isNew = watched.some(({ cursor }) => cursor === null);
  const nowMs = clock.monotonicMs();
  if (!isOpen && !isNew && nowMs < state.nextIdleMs) return false;
  state.nextIdleMs = nowMs + idleCallMs;
  const isChecked = state.checkedMs !== null && nowMs - state.checkedMs < genesisCheckMs;
  if (!isChecked) {
    if (!(await checkTerms(deps, state))) return true;
    // If no intent is open and every account has a cursor, one call per `idleCallMs` is enough.
    // `checkTerms` has just called the server.
    if (!isOpen && !isNew) return true;
  }
  const asked = isOpen
    ? await workOpen(deps, lease, state, watched)
    : await workIdle(deps, lease, state, watched);
  state.backoffMs = backoffMsMin;
  state.problem = null;
  return asked;
}

/**
 * Adds the configured token account if it is not watched yet. The account can receive a transfer
 * before its first intent is created, and the watcher must notice this transfer too.
 */
function withConfigured(
  watched: readonly WatchedAccount[],
  { tokenAccount, rail }: WatcherDeps,
): readonly WatchedAccount[] {
  if (watched.some((one) => one.tokenAccount === tokenAccount)) return watched;
  return [...watched, { tokenAccount, mint: rail.mint, isOpen: false, cursor: null }];
}

/**
 * Checks all terms of the rail (CONTRACT 8) until they have passed once, then only the genesis
 * hash. False: a term is refused. Throws `RpcUnavailable` without a usable answer.
 */
async function checkTerms(deps: WatcherDeps, state: State): Promise<boolean> {
  const { solana, rpc, rail, environment, clock, logger } = deps;
  const terms = { environment, recipient: rail.recipient, mint: rail.mint };
  const check = state.hasPassedAll
    ? await solana.checkGenesis(rpc, terms)
    : await solana.checkRail(rpc, terms);
  if (check.kind === 'unreachable')
    throw new RpcUnavailable({ kind: 'failed', reason: check.reason });
  if (check.kind === 'refused') {
    state.problem = check.sentence;
    state.checkedMs = null;
    state.nextCallMs = clock.monotonicMs() + backoffMsMax;
    logger.error(
      { event: 'solana.terms_refused', variable: check.variable },
      `no payment is credited: ${check.sentence}`,
    );
    return false;
  }
  state.hasPassedAll = true;
  // A server that lied about the chain's newest slot is asked again.
  state.chain.newest = 0;
  state.checkedMs = clock.monotonicMs();
  state.problem = null;
  return true;
}

async function workOpen(
  deps: WatcherDeps,
  lease: Lease,
  state: State,
  watched: readonly WatchedAccount[],
): Promise<boolean> {
  const { store, clock } = deps;
  const { chain } = state;
  let asked = false;
  for (const account of watched) {
    if (account.cursor === null) await startCursor(deps, lease, account, chain);
    const memory = memoryOf(state, account.tokenAccount);
    const isDue = memory.backlog.length > 0 || clock.monotonicMs() >= memory.nextPollMs;
    if (account.cursor === null || !account.isOpen || !isDue) continue;
    memory.nextPollMs = clock.monotonicMs() + pollMs;
    await pollAccount(deps, lease, watched, account, { memory, chain, isIdle: false });
    asked = true;
  }
  for (const unread of await findUnreadDue(store, retriesPerTickMax)) {
    const wasRead = await readSignature(deps, lease, watched, unread, null);
    remember(memoryOf(state, unread.tokenAccount), unread.signature, wasRead);
    asked = true;
  }
  let reads = readsPerTickMax;
  for (const question of await findDueQuestions(store, questionsPerTickMax)) {
    if (reads === 0) break;
    const memory = memoryOf(state, question.tokenAccount);
    reads -= await askForReference(deps, lease, watched, question, memory, reads);
    asked = true;
  }
  return asked;
}

/** Makes at most one call to the RPC server. Returns false if it finds nothing to do. */
async function workIdle(
  deps: WatcherDeps,
  lease: Lease,
  state: State,
  watched: readonly WatchedAccount[],
): Promise<boolean> {
  const fresh = watched.find(({ cursor }) => cursor === null);
  if (fresh !== undefined) {
    await startCursor(deps, lease, fresh, state.chain);
    return true;
  }
  const [unread] = await findUnreadDue(deps.store, 1);
  if (unread !== undefined) {
    await readSignature(deps, lease, watched, unread, null);
    return true;
  }
  const memories = watched.map((one) => ({ one, memory: memoryOf(state, one.tokenAccount) }));
  const begun = memories.find(({ memory }) => memory.backlog.length > 0 || !memory.isCompared);
  const [next] = memories.toSorted((a, b) => a.memory.nextPollMs - b.memory.nextPollMs);
  const chosen = begun ?? next;
  if (chosen === undefined) return false;
  const { one, memory } = chosen;
  memory.nextPollMs = deps.clock.monotonicMs();
  await pollAccount(deps, lease, watched, one, { memory, chain: state.chain, isIdle: true });
  return true;
}

function memoryOf({ accounts }: State, tokenAccount: string): AccountMemory {
  const memory = accounts.get(tokenAccount) ?? newAccountMemory();
  accounts.set(tokenAccount, memory);
  return memory;
}
