import type { OutcomeFrame } from './auditor.ts';
import type { InHand, ModelNode } from './node.ts';
import { pick } from './pick.ts';
import type { World } from './world.ts';

/** What nodes, and a tenant, may do next. */

interface OfRun {
  readonly node: ModelNode;
  readonly run: InHand;
}

function runsIn(world: World, phase: InHand['phase']): OfRun[] {
  return world.nodes.flatMap((node) =>
    [...node.journal.values()].filter((run) => run.phase === phase).map((run) => ({ node, run })),
  );
}

function linked(world: World): ModelNode[] {
  return world.nodes.filter(({ link }) => link?.isOpen === true);
}

export function answerOffer(world: World, n: number, answer: 'accept' | 'decline'): void {
  const open = linked(world).flatMap((node) =>
    [...node.offers.values()].map((offer) => ({ node, offer })),
  );
  const chosen = pick(open, n);
  chosen?.node.answer(chosen.offer, answer);
}

/** An answer to an offer that is long over, or a second answer to one that is not. */
export function acceptLate(world: World, n: number): void {
  const node = pick(linked(world), n);
  if (node === undefined) return;
  const offer = pick(node.pastOffers, n >> 2);
  if (offer === undefined || node.offers.has(offer.offerId)) return;
  node.send({ type: 'accept', offerId: offer.offerId });
}

export function startRun(world: World, n: number): void {
  const chosen = pick(runsIn(world, 'assigned'), n);
  chosen?.node.send({ type: 'start', submissionId: chosen.run.submissionId });
}

/** A node asks for what is perhaps not its own. */
export function beginNothing(world: World, n: number): void {
  const posted = pick(world.posted, n >> 2);
  if (posted === undefined) return;
  pick(linked(world), n)?.send({ type: 'start', submissionId: posted.wireId });
}

export function reportUsage(world: World, n: number): void {
  const chosen = pick(runsIn(world, 'begun'), n);
  if (chosen === undefined) return;
  const { node, run } = chosen;
  const { submissionId } = run;
  // Mostly more than before; what is less must not count.
  run.actions = Math.max(0, run.actions + (n % 50) - 5);
  const { actions } = run;
  world.auditor.of(submissionId).actionsReported.add(actions);
  node.send({ type: 'usage', submissionId, usage: { actions } });
}

function outcomeOf(world: World, run: InHand, type: OutcomeFrame['type']): OutcomeFrame {
  const { submissionId, actions } = run;
  world.auditor.of(submissionId).actionsReported.add(actions);
  const usage = { actions };
  return type === 'completed'
    ? { type, submissionId, usage, result: {} }
    : { type, submissionId, usage, failure: { code: 'ats_rejected', message: 'no' } };
}

export function endRun(world: World, n: number, type: OutcomeFrame['type']): void {
  // A node may fail what it was assigned before it begins; it completes only what it has begun.
  const early = type === 'failed' ? runsIn(world, 'assigned') : [];
  const chosen = pick([...runsIn(world, 'begun'), ...early], n);
  chosen?.node.end(chosen.run, outcomeOf(world, chosen.run, type));
}

/** A bad frame, unless its `start` is being committed; the node forgets that it said so. */
export function completeEarly(world: World, n: number): void {
  const chosen = pick(runsIn(world, 'assigned'), n);
  chosen?.node.report(outcomeOf(world, chosen.run, 'completed'));
}

/** It was told to stop, and had done it already. */
export function endStoppedRun(world: World, n: number): void {
  const node = pick(
    linked(world).filter(({ stopping }) => stopping.size > 0),
    n,
  );
  const submissionId = pick([...(node?.stopping ?? [])], n);
  if (node === undefined || submissionId === undefined) return;
  if (!world.auditor.of(submissionId).actedBy.includes(node.id)) return;
  node.stopping.delete(submissionId);
  const run: InHand = { submissionId, phase: 'ended', actions: 1 };
  node.journal.set(submissionId, run);
  node.end(run, outcomeOf(world, run, 'completed'));
}

export function repeatOutcome(world: World, n: number): void {
  const chosen = pick(runsIn(world, 'ended'), n);
  if (chosen?.run.outcome !== undefined) chosen.node.report(chosen.run.outcome);
}

export function sayStopped(world: World, n: number): void {
  const node = pick(
    linked(world).filter(({ stopping }) => stopping.size > 0),
    n,
  );
  const submissionId = pick([...(node?.stopping ?? [])], n);
  if (node !== undefined && submissionId !== undefined) node.sayStopped(submissionId);
}

export function cutLink(world: World, n: number, how: { readonly isNoticed: boolean }): void {
  const link = pick(linked(world), n)?.link;
  if (how.isNoticed) link?.cut();
  else link?.cutUnnoticed(world.time.timers(() => true));
}

/** Those that are not linked come back, all or one; or one that is linked opens a newer link. */
export function connectNode(world: World, n: number): void {
  const away = world.nodes.filter(({ link }) => link === undefined);
  if (n % 2 === 0) {
    for (const [index, node] of away.entries()) pick(world.alive, n + index)?.connect(node);
    return;
  }
  const node = pick(away.length > 0 ? away : world.nodes, n);
  if (node === undefined || (away.length === 0 && n % 4 !== 0)) return;
  pick(world.alive, n >> 2)?.connect(node);
}

export function restartAgent(world: World, n: number): void {
  const node = pick(world.nodes, n);
  node?.link?.cut();
  node?.restarted();
}

export function loseDisk(world: World, n: number): void {
  const node = pick(world.nodes, n);
  node?.link?.cut();
  node?.journal.clear();
}

export function drainNode(world: World, n: number): void {
  const node = pick(linked(world), n);
  if (node === undefined || n % 2 === 0) return;
  node.isDraining = true;
  node.send({ type: 'drain' });
}

export async function cancelOne(
  world: World,
  n: number,
  how: { readonly isTold: boolean },
): Promise<void> {
  const posted = pick(world.posted, n);
  if (posted !== undefined) await world.cancel(posted, how);
}

/** Every node does what comes next by itself, once: most runs then go somewhere. */
export function lively(world: World, n: number): void {
  for (const node of linked(world)) {
    for (const offer of node.offers.values()) node.answer(offer, 'accept');
    for (const run of node.journal.values()) {
      if (run.phase === 'assigned') {
        node.send({ type: 'start', submissionId: run.submissionId });
      } else if (run.phase === 'begun' && n % 3 === 0) {
        node.end(run, outcomeOf(world, run, n % 2 === 0 ? 'completed' : 'failed'));
      }
    }
    for (const submissionId of node.stopping) node.sayStopped(submissionId);
  }
}
