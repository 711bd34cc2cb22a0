import type { FrameFromNode } from '@svc/contracts';
import { offerTimeoutMs, openOffersMax } from '@svc/domain';

export type OutcomeFrame = Extract<FrameFromNode, { type: 'completed' | 'failed' }>;

/** The auditor's record of one submission: the frames on the links, and the acts of nodes. */
export interface Sighting {
  readonly askedNodes: Set<string>;
  readonly openOffers: Map<string, { readonly voidAtMs: number }>;
  /** The nodes that got the payload. */
  readonly assignedTo: Set<string>;
  readonly beginSentTo: Set<string>;
  /** The node of each execution. A node that executed the submission twice is listed twice. */
  readonly actedBy: string[];
  readonly outcomes: { readonly nodeId: string; readonly frame: OutcomeFrame }[];
  readonly acknowledged: Set<string>;
  readonly actionsReported: Set<number>;
}

/**
 * Records the offers, assignments, begins, outcomes and executions of each submission. Adds
 * breaches of CONTRACT 7, "At most once", to `violations`.
 */
export class Auditor {
  readonly #openForMs: number;

  readonly violations: string[] = [];
  readonly sightings = new Map<string, Sighting>();

  /** An offer that has not ended counts as open for `openForMs` after the node got it. */
  constructor(openForMs = offerTimeoutMs) {
    this.#openForMs = openForMs;
  }

  /** The nodes whose frames are recorded. Executions are recorded for all nodes. */
  readonly watched = new Set<string>();

  sees(nodeId: string | null): boolean {
    return nodeId !== null && this.watched.has(nodeId);
  }

  of(submissionId: string): Sighting {
    const found = this.sightings.get(submissionId);
    if (found !== undefined) return found;
    const sighting: Sighting = {
      askedNodes: new Set(),
      openOffers: new Map(),
      assignedTo: new Set(),
      beginSentTo: new Set(),
      actedBy: [],
      outcomes: [],
      acknowledged: new Set(),
      actionsReported: new Set(),
    };
    this.sightings.set(submissionId, sighting);
    return sighting;
  }

  offered(nodeId: string, submissionId: string, offerId: string, nowMs: number): void {
    const { askedNodes, openOffers } = this.of(submissionId);
    if (askedNodes.has(nodeId)) this.complain(submissionId, `was offered to ${nodeId} again`);
    askedNodes.add(nodeId);
    for (const [id, { voidAtMs }] of openOffers) if (voidAtMs <= nowMs) openOffers.delete(id);
    openOffers.set(offerId, { voidAtMs: nowMs + this.#openForMs });
    if (openOffers.size > openOffersMax)
      this.complain(
        submissionId,
        `has ${openOffers.size} open offers at once, but may have only ${openOffersMax}`,
      );
  }

  /** Records that an offer was answered or revoked, or that its link is closed. */
  offerEnded(submissionId: string, offerId: string): void {
    this.of(submissionId).openOffers.delete(offerId);
  }

  assigned(nodeId: string, submissionId: string): void {
    const { assignedTo } = this.of(submissionId);
    if (assignedTo.size > 0)
      this.complain(
        submissionId,
        `was assigned to ${nodeId} although ${[...assignedTo].join(', ')} had it`,
      );
    assignedTo.add(nodeId);
  }

  /** Records a `begin`. The service may repeat `begin`, but only to the assigned node. */
  sentBegin(nodeId: string, submissionId: string): void {
    const { assignedTo, beginSentTo } = this.of(submissionId);
    if (!assignedTo.has(nodeId))
      this.complain(submissionId, `${nodeId} got begin without an assignment`);
    beginSentTo.add(nodeId);
  }

  acted(nodeId: string, submissionId: string): void {
    const { actedBy } = this.of(submissionId);
    actedBy.push(nodeId);
    if (actedBy.length > 1)
      this.complain(submissionId, `was executed by ${actedBy.join(', then ')}`);
  }

  complain(subject: string, what: string): void {
    this.violations.push(`${subject}: ${what}`);
  }
}
