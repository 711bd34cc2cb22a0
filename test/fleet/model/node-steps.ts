import type { Auditor, OutcomeFrame } from './auditor.ts';
import type { JournalRun, ModelNode } from './node.ts';
import { pick } from './pick.ts';

/** The fleet that the steps below act on. It is in memory, or made of real processes. */
export interface Fleet {
  readonly auditor: Auditor;
  readonly nodes: readonly ModelNode[];
  /** The wire ids of the submissions. */
  readonly submissions: readonly string[];
  readonly alive: readonly { connect(node: ModelNode): void }[];
  /**
   * Cancels a submission. If `isAnnounced` is false, a fleet in memory loses the message to the
   * dispatchers.
   */
  cancel(submissionId: string, how: { readonly isAnnounced: boolean }): Promise<void>;
}

interface OfRun {
  readonly node: ModelNode;
  readonly run: JournalRun;
}

function runsIn(fleet: Fleet, phase: JournalRun['phase']): OfRun[] {
  return fleet.nodes.flatMap((node) =>
    [...node.journal.values()].filter((run) => run.phase === phase).map((run) => ({ node, run })),
  );
}

function linked(fleet: Fleet): ModelNode[] {
  return fleet.nodes.filter(({ link }) => link?.isOpen === true);
}

export function answerOffer(fleet: Fleet, n: number, answer: 'accept' | 'decline'): void {
  const open = linked(fleet).flatMap((node) =>
    [...node.offers.values()].map((offer) => ({ node, offer })),
  );
  const chosen = pick(open, n);
  chosen?.node.answer(chosen.offer, answer);
}

/** Accepts an offer that was answered or revoked, or whose link is closed. */
export function acceptLate(fleet: Fleet, n: number): void {
  const node = pick(linked(fleet), n);
  if (node === undefined) return;
  const offer = pick(node.pastOffers, n >> 2);
  if (offer === undefined || node.offers.has(offer.offerId)) return;
  node.send({ type: 'accept', offerId: offer.offerId });
}

export function startRun(fleet: Fleet, n: number): void {
  const chosen = pick(runsIn(fleet, 'assigned'), n);
  chosen?.node.send({ type: 'start', submissionId: chosen.run.submissionId });
}

/** Lets a node ask to begin any submission. The submission may belong to another node. */
export function beginNothing(fleet: Fleet, n: number): void {
  const submissionId = pick(fleet.submissions, n >> 2);
  if (submissionId !== undefined) pick(linked(fleet), n)?.send({ type: 'start', submissionId });
}

export function reportUsage(fleet: Fleet, n: number): void {
  const chosen = pick(runsIn(fleet, 'begun'), n);
  if (chosen === undefined) return;
  const { node, run } = chosen;
  const { submissionId } = run;
  // The usage is usually higher than before. Sometimes it is lower, and the service must not count
  // the lower value.
  run.actions = Math.max(0, run.actions + (n % 50) - 5);
  const { actions } = run;
  fleet.auditor.of(submissionId).actionsReported.add(actions);
  node.send({ type: 'usage', submissionId, usage: { actions } });
}

function outcomeOf(fleet: Fleet, run: JournalRun, type: OutcomeFrame['type']): OutcomeFrame {
  const { submissionId, actions } = run;
  fleet.auditor.of(submissionId).actionsReported.add(actions);
  const usage = { actions };
  return type === 'completed'
    ? { type, submissionId, usage, result: {} }
    : { type, submissionId, usage, failure: { code: 'ats_rejected', message: 'no' } };
}

export function endRun(fleet: Fleet, n: number, type: OutcomeFrame['type']): void {
  // A node may report `failed` for a submission that it has not begun, but `completed` only for one
  // that it has begun.
  const early = type === 'failed' ? runsIn(fleet, 'assigned') : [];
  const chosen = pick([...runsIn(fleet, 'begun'), ...early], n);
  chosen?.node.end(chosen.run, outcomeOf(fleet, chosen.run, type));
}

/**
 * Reports `completed` for a submission that the node has not begun. The report is a bad frame if
 * the submission in Postgres is still `dispatched`.
 */
export function completeEarly(fleet: Fleet, n: number): void {
  const chosen = pick(runsIn(fleet, 'assigned'), n);
  chosen?.node.report(outcomeOf(fleet, chosen.run, 'completed'));
}

/**
 * Completes a submission that the node was ordered to stop, as if the work had ended before the
 * order. Does nothing if the node has not acted on the submission.
 */
export function endStoppedRun(fleet: Fleet, n: number): void {
  const node = pick(
    linked(fleet).filter(({ stopping }) => stopping.size > 0),
    n,
  );
  const submissionId = pick([...(node?.stopping ?? [])], n);
  if (node === undefined || submissionId === undefined) return;
  if (!fleet.auditor.of(submissionId).actedBy.includes(node.id)) return;
  node.stopping.delete(submissionId);
  const run: JournalRun = { submissionId, phase: 'ended', actions: 1 };
  node.journal.set(submissionId, run);
  node.end(run, outcomeOf(fleet, run, 'completed'));
}

export function repeatOutcome(fleet: Fleet, n: number): void {
  const chosen = pick(runsIn(fleet, 'ended'), n);
  if (chosen?.run.outcome !== undefined) chosen.node.report(chosen.run.outcome);
}

export function sayStopped(fleet: Fleet, n: number): void {
  const node = pick(
    linked(fleet).filter(({ stopping }) => stopping.size > 0),
    n,
  );
  const submissionId = pick([...(node?.stopping ?? [])], n);
  if (node !== undefined && submissionId !== undefined) node.sayStopped(submissionId);
}

export function cutLink(fleet: Fleet, n: number, how: { readonly isNoticed: boolean }): void {
  const link = pick(linked(fleet), n)?.link;
  if (how.isNoticed) link?.cut();
  else link?.cutUnnoticed();
}

/** Connects all unlinked nodes if `n` is even. Otherwise connects one of them. */
export function connectNode(fleet: Fleet, n: number): void {
  const away = fleet.nodes.filter(({ link }) => link === undefined);
  if (n % 2 === 0) {
    for (const [index, node] of away.entries()) pick(fleet.alive, n + index)?.connect(node);
    return;
  }
  const node = pick(away, n);
  if (node !== undefined) pick(fleet.alive, n >> 2)?.connect(node);
}

export function restartAgent(fleet: Fleet, n: number): void {
  const node = pick(fleet.nodes, n);
  node?.link?.cut();
  node?.restarted();
}

export function loseDisk(fleet: Fleet, n: number): void {
  const node = pick(fleet.nodes, n);
  node?.link?.cut();
  node?.journal.clear();
}

export function drainNode(fleet: Fleet, n: number): void {
  const node = pick(linked(fleet), n);
  if (node === undefined || n % 2 === 0) return;
  node.isDraining = true;
  node.send({ type: 'drain' });
}

export async function cancelOne(
  fleet: Fleet,
  n: number,
  how: { readonly isAnnounced: boolean },
): Promise<void> {
  const submissionId = pick(fleet.submissions, n);
  if (submissionId !== undefined) await fleet.cancel(submissionId, how);
}

/**
 * Lets every linked node accept its offers, start its assignments and report its stops. If `n` is a
 * multiple of 3, each node also ends what it has begun.
 */
export function lively(fleet: Fleet, n: number): void {
  for (const node of linked(fleet)) {
    for (const offer of node.offers.values()) node.answer(offer, 'accept');
    for (const run of node.journal.values()) {
      if (run.phase === 'assigned') {
        node.send({ type: 'start', submissionId: run.submissionId });
      } else if (run.phase === 'begun' && n % 3 === 0) {
        node.end(run, outcomeOf(fleet, run, n % 2 === 0 ? 'completed' : 'failed'));
      }
    }
    for (const submissionId of node.stopping) node.sayStopped(submissionId);
  }
}
