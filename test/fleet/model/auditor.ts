import type { FrameFromNode } from '@svc/contracts';
import { offerTimeoutMs, openOffersMax } from '@svc/domain';

export type OutcomeFrame = Extract<FrameFromNode, { type: 'completed' | 'failed' }>;

/** What the auditor has seen of one submission, on the links alone. */
export interface Sighting {
  readonly askedNodes: Set<string>;
  readonly openOffers: Map<string, { readonly voidAtMs: number }>;
  /** Who was sent the payload. */
  readonly assignedTo: Set<string>;
  /** Who was ever told to begin. */
  readonly toldToBegin: Set<string>;
  /** Who acted, once for each time. */
  readonly actedBy: string[];
  /** What each node said, in its order. */
  readonly outcomes: { readonly nodeId: string; readonly frame: OutcomeFrame }[];
  readonly acknowledged: Set<string>;
  readonly actionsReported: Set<number>;
}

/**
 * Stands beside the links and writes down what crosses them; it knows nothing of the service but
 * its contract (CONTRACT 7). What may never be seen is a violation at once; the rest is compared
 * with the rows when all is over.
 */
export class Auditor {
  readonly #openForMs: number;

  readonly violations: string[] = [];
  readonly sightings = new Map<string, Sighting>();

  /** How long an offer counts as open at the least, from when its node has it. */
  constructor(openForMs = offerTimeoutMs) {
    this.#openForMs = openForMs;
  }

  /** Nodes that it stands beside. */
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
      toldToBegin: new Set(),
      actedBy: [],
      outcomes: [],
      acknowledged: new Set(),
      actionsReported: new Set(),
    };
    this.sightings.set(submissionId, sighting);
    return sighting;
  }

  /** An offer is sent: nobody is asked twice, and never more than two are open. */
  offered(nodeId: string, submissionId: string, offerId: string, nowMs: number): void {
    const { askedNodes, openOffers } = this.of(submissionId);
    if (askedNodes.has(nodeId)) this.complain(submissionId, `${nodeId} was asked twice`);
    askedNodes.add(nodeId);
    for (const [id, { voidAtMs }] of openOffers) if (voidAtMs <= nowMs) openOffers.delete(id);
    openOffers.set(offerId, { voidAtMs: nowMs + this.#openForMs });
    if (openOffers.size > openOffersMax)
      this.complain(submissionId, `${openOffers.size} offers are open`);
  }

  /** It was answered or revoked, or its link is gone. */
  offerEnded(submissionId: string, offerId: string): void {
    this.of(submissionId).openOffers.delete(offerId);
  }

  /** The payload goes to one node, once. */
  assigned(nodeId: string, submissionId: string): void {
    const { assignedTo } = this.of(submissionId);
    if (assignedTo.size > 0)
      this.complain(submissionId, `assigned to ${nodeId} after ${[...assignedTo].join(', ')}`);
    assignedTo.add(nodeId);
  }

  /** `begin` may be repeated, to the node that was assigned, and to no other. */
  toldToBegin(nodeId: string, submissionId: string): void {
    const { assignedTo, toldToBegin } = this.of(submissionId);
    if (!assignedTo.has(nodeId)) this.complain(submissionId, `${nodeId} may begin, unassigned`);
    toldToBegin.add(nodeId);
  }

  /** The node acts: this is what must happen at most once. */
  acted(nodeId: string, submissionId: string): void {
    const { actedBy } = this.of(submissionId);
    actedBy.push(nodeId);
    if (actedBy.length > 1) this.complain(submissionId, `executed by ${actedBy.join(', then ')}`);
  }

  complain(subject: string, what: string): void {
    this.violations.push(`${subject}: ${what}`);
  }
}
