import { parseFrameToNode, type FrameFromNode, type FrameToNodeOf } from '@svc/contracts';
import { acceptedOfferVoidAfterMs, toWireId } from '@svc/domain';
import type { Auditor, OutcomeFrame } from './auditor.ts';

/** The data that a node's disk stores about one run. */
export interface JournalRun {
  readonly submissionId: string;
  phase: 'assigned' | 'begun' | 'ended';
  actions: number;
  outcome?: OutcomeFrame;
}

export interface NodeLinkEnd {
  readonly isOpen: boolean;
  fromNode(frame: FrameFromNode): void;
  /** Closes the link. Both sides notice it. */
  cut(): void;
  /** Closes the link at the node. The service notices only the silence. */
  cutUnnoticed(): void;
}

interface ReceivedOffer {
  readonly offerId: string;
  readonly submissionId: string;
}

const restarted = { code: 'node_error', message: 'restarted' } as const;

/**
 * A node in memory that keeps the contract. By itself it does only what a frame obliges it to do.
 * The test run decides everything else.
 */
export class ModelNode {
  readonly id: string;
  readonly wireId: string;
  readonly slots: number;
  readonly journal = new Map<string, JournalRun>();
  readonly offers = new Map<string, ReceivedOffer>();
  readonly pastOffers: ReceivedOffer[] = [];
  /**
   * The submissions that the node was ordered to stop on the current link. The order ends with
   * `stopped`, an outcome or a later assignment of the submission.
   */
  readonly stopping = new Set<string>();
  link: NodeLinkEnd | undefined;
  /** The submissions that were offered on the current link. */
  readonly offeredHere = new Set<string>();
  isDraining = false;
  /** True if the hello of the current link was answered. */
  isWelcome = false;
  /** Counts the starts of the node's process. The hello names the current start. */
  #starts = 1;
  readonly #accepted = new Map<string, { readonly submissionId: string; readonly atMs: number }>();
  readonly #auditor: Auditor;
  readonly #nowMs: () => number;

  constructor(id: string, slots: number, auditor: Auditor, nowMs: () => number) {
    this.id = id;
    this.wireId = toWireId('nod', id);
    this.slots = slots;
    this.#auditor = auditor;
    this.#nowMs = nowMs;
    auditor.watched.add(id);
  }

  send(frame: FrameFromNode): void {
    this.link?.fromNode(frame);
  }

  hello(): FrameFromNode {
    return {
      type: 'hello',
      agentVersion: 'model',
      instanceId: `start-${this.#starts}`,
      jobTypes: ['ats.application'],
      slots: this.slots,
      running: [...this.journal.keys()],
    };
  }

  unlinked(): void {
    this.link = undefined;
    this.isWelcome = false;
    for (const { offerId, submissionId } of this.offers.values()) {
      this.#auditor.offerEnded(submissionId, offerId);
    }
    this.offers.clear();
    this.offeredHere.clear();
    this.#accepted.clear();
    this.stopping.clear();
  }

  /**
   * Restarts the node's process. Each run in the phase `begun` ends as `failed`. The node never
   * begins it again.
   */
  restarted(): void {
    this.#starts += 1;
    for (const run of this.journal.values()) {
      if (run.phase !== 'begun') continue;
      run.phase = 'ended';
      run.outcome = {
        type: 'failed',
        submissionId: run.submissionId,
        usage: {},
        failure: restarted,
      };
    }
  }

  answer(offer: ReceivedOffer, answer: 'accept' | 'decline'): void {
    const { offerId, submissionId } = offer;
    this.offers.delete(offerId);
    this.#auditor.offerEnded(submissionId, offerId);
    const active = [...this.journal.values()].filter(({ phase }) => phase !== 'ended').length;
    const isBusy = active + this.#accepted.size >= this.slots || this.isDraining;
    if (answer === 'decline' || isBusy) {
      this.send({ type: 'decline', offerId, reason: isBusy ? 'busy' : 'policy' });
      return;
    }
    this.#accepted.set(offerId, { submissionId, atMs: this.#nowMs() });
    this.send({ type: 'accept', offerId });
  }

  end(run: JournalRun, outcome: OutcomeFrame): void {
    run.phase = 'ended';
    run.outcome = outcome;
    this.report(outcome);
  }

  report(outcome: OutcomeFrame): void {
    this.#auditor.of(outcome.submissionId).outcomes.push({ nodeId: this.id, frame: outcome });
    this.send(outcome);
  }

  sayStopped(submissionId: string): void {
    this.stopping.delete(submissionId);
    this.send({ type: 'stopped', submissionId, usage: {} });
  }

  receive(text: string): void {
    const parsed = parseFrameToNode(text);
    if (parsed.kind === 'bad') {
      this.#auditor.complain(this.wireId, `got a bad frame: ${parsed.message}`);
      return;
    }
    const { frame } = parsed;
    switch (frame.type) {
      case 'welcome':
        this.#welcomed(frame);
        return;
      case 'offer': {
        const { offerId, submissionId } = frame;
        this.offers.set(offerId, { offerId, submissionId });
        this.pastOffers.push({ offerId, submissionId });
        this.offeredHere.add(submissionId);
        this.#auditor.offered(this.id, submissionId, offerId, this.#nowMs());
        return;
      }
      case 'revoke':
        this.#revoked(frame.offerId);
        return;
      case 'assign':
        this.#assigned(frame);
        return;
      case 'begin':
        this.#begun(frame.submissionId);
        return;
      case 'ack':
        this.#acknowledged(frame.submissionId);
        return;
      case 'cancel':
        this.#stop(frame.submissionId);
        return;
      case 'drain':
      case 'recorded':
      case 'error':
        return;
    }
  }

  #welcomed({ stop }: FrameToNodeOf<'welcome'>): void {
    this.isWelcome = true;
    for (const submissionId of stop) this.#stop(submissionId);
    for (const { outcome } of this.journal.values()) {
      if (outcome !== undefined) this.report(outcome);
    }
    if (this.isDraining) this.send({ type: 'drain' });
  }

  #revoked(offerId: string): void {
    const submissionId = (this.offers.get(offerId) ?? this.#accepted.get(offerId))?.submissionId;
    if (submissionId !== undefined) this.#auditor.offerEnded(submissionId, offerId);
    this.offers.delete(offerId);
    this.#accepted.delete(offerId);
  }

  #assigned({ offerId, submissionId }: FrameToNodeOf<'assign'>): void {
    this.#auditor.assigned(this.id, submissionId);
    const accepted = this.#accepted.get(offerId);
    this.#accepted.delete(offerId);
    if (accepted === undefined) {
      this.#auditor.complain(submissionId, `was assigned to ${this.id} without an accepted offer`);
      return;
    }
    if (this.#nowMs() - accepted.atMs > acceptedOfferVoidAfterMs) return;
    // A node can name a submission in a frame before the submission is assigned to it. The
    // dispatcher then orders the node to stop the submission. The assignment cancels this order.
    this.stopping.delete(submissionId);
    this.journal.set(submissionId, { submissionId, phase: 'assigned', actions: 0 });
  }

  #begun(submissionId: string): void {
    this.#auditor.sentBegin(this.id, submissionId);
    const run = this.journal.get(submissionId);
    if (run?.phase !== 'assigned') return;
    if (this.stopping.has(submissionId)) {
      this.#auditor.complain(
        submissionId,
        `${this.id} got begin after an order to stop this submission`,
      );
    }
    run.phase = 'begun';
    this.#auditor.acted(this.id, submissionId);
  }

  /**
   * Removes an acknowledged outcome from the journal. The frame `stopped` is acknowledged too, but
   * has no outcome in the journal.
   */
  #acknowledged(submissionId: string): void {
    if (this.journal.get(submissionId)?.phase !== 'ended') return;
    this.journal.delete(submissionId);
    this.#auditor.of(submissionId).acknowledged.add(this.id);
  }

  #stop(submissionId: string): void {
    const run = this.journal.get(submissionId);
    if (run?.phase === 'ended') return;
    this.journal.delete(submissionId);
    this.stopping.add(submissionId);
  }
}
