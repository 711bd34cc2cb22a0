import type { MakeOffer, SentFrame } from '@svc/contracts';
import { slotsOf } from '@svc/domain';
import type { Logger } from '@svc/runtime';
import type { Timer } from '../timers.ts';
import type { ForeignFrames } from './foreign-frames.ts';
import type { FrameRate } from './frame-rate.ts';
import type { OrderedWork } from './ordered-work.ts';

export interface LinkTransport {
  send(text: string): void;
  close(code: number, reason: string): void;
  /** Stops reading from the socket, to limit how many frames of one node are in memory. */
  pause(): void;
  resume(): void;
}

export interface UnansweredOffer {
  readonly message: MakeOffer;
  readonly timer: Timer;
  readonly sentAtMs: number;
  readonly ended: PromiseWithResolvers<void>;
}

export interface LinkRun {
  readonly submissionId: string;
  /**
   * The id of the request that created the submission. Undefined until a frame on this link has led
   * to a commit of `dispatched` or `running`.
   */
  requestId?: string;
  /**
   * The time (`tracing.nowMs()`) just after `commitRunning` succeeded for a `start` on this link.
   * Undefined until then, even if `begin` was sent on another link.
   */
  begunAtMs?: number;
  /** False during the commit of `dispatched`. Until the end of this commit, no payload is sent. */
  isAssigned: boolean;
  /**
   * True if the node must stop. The dispatcher has sent `cancel` or `revoke`, or is about to send
   * it.
   */
  isStopping: boolean;
  /**
   * The monotonic time of the last poll that checked if the run has ended elsewhere. Before the
   * first such poll, the time at which the run took its slot.
   */
  checkedAtMs: number;
  slotTimer?: Timer;
}

export interface NodeLink {
  readonly linkId: string;
  readonly nodeId: string;
  readonly transport: LinkTransport;
  readonly logger: Logger;
  readonly work: OrderedWork;
  /** `greeting` lasts from `hello` to `welcome`. Frames of an ended link are ignored. */
  state: 'connected' | 'greeting' | 'open' | 'ended';
  /**
   * Resolves when the `welcome` is sent or the link has ended. Before the `hello` arrives, this is
   * a resolved promise.
   */
  greeted: Promise<void>;
  readonly rate: FrameRate;
  badFrames: number;
  readonly foreign: ForeignFrames;
  /** True if the `welcome` asked for reports (CONTRACT 7, "Recovery"). */
  isRecovering: boolean;
  /** The number of reports on this link that could not be read. */
  unreadableReports: number;
  helloTimer?: Timer;
  /** The link's epoch in Postgres. The link with the highest epoch is the node's current link. */
  readonly linkEpoch: number;
  readonly clientAddress: string | undefined;
  instanceId?: string | undefined;
  /** The link's epoch in the fleet registry; 0 until the link is entered there. */
  epoch: number;
  enteredAtMs: number;
  jobTypes: readonly string[];
  /**
   * `slotsRequested` is from the `hello`, and 0 before the `hello`. `slotsMax` is the limit of the
   * node. `slots` is the smaller of these two numbers.
   */
  slotsRequested: number;
  slotsMax: number;
  slots: number;
  /**
   * True if the node gets no more offers. Either the node has sent `drain`, or an operator drains
   * the node, or this dispatcher stops.
   */
  draining: boolean;
  /**
   * The node gets no offers until this time of the database's clock (CONTRACT 7). Null if the node
   * is not in quarantine.
   */
  quarantinedUntil: Date | null;
  /** True if an operator drains the node. The dispatcher then sends `drain`. */
  isDrainOrdered: boolean;
  /** The version of the secret that signed the upgrade. */
  readonly secretVersion: number;
  /**
   * The database time at which the secret of `secretVersion` expires. Null if this was the newest
   * secret when the dispatcher last read the node from Postgres.
   */
  secretExpiresAt: Date | null;
  readonly offers: Map<string, UnansweredOffer>;
  readonly runs: Map<string, LinkRun>;
}

export interface Links {
  readonly all: Set<NodeLink>;
  /** The links on which a `hello` has arrived, at most one per node. */
  readonly byNode: Map<string, NodeLink>;
  /**
   * The links on which a submission takes a slot, usually one. If two nodes have accepted the
   * submission, there are two links until one of these nodes gets `revoke`.
   */
  readonly bySubmission: Map<string, Set<NodeLink>>;
  readonly unconfirmed: Map<LinkRun, NodeLink>;
}

export function addRun({ bySubmission }: Links, link: NodeLink, run: LinkRun): void {
  const { submissionId } = run;
  link.runs.set(submissionId, run);
  const holders = bySubmission.get(submissionId);
  if (holders === undefined) bySubmission.set(submissionId, new Set([link]));
  else holders.add(link);
}

export function removeFromIndex(
  { bySubmission }: Links,
  link: NodeLink,
  submissionId: string,
): void {
  const holders = bySubmission.get(submissionId);
  holders?.delete(link);
  if (holders?.size === 0) bySubmission.delete(submissionId);
}

export function createLinks(): Links {
  return { all: new Set(), byNode: new Map(), bySubmission: new Map(), unconfirmed: new Map() };
}

/**
 * True if the link has ended. Check this again after each `await`, because a link may end at any
 * time.
 */
export function hasEnded(link: NodeLink): boolean {
  return link.state === 'ended';
}

export function applySlots(link: NodeLink): void {
  link.slots = slotsOf({ requested: link.slotsRequested, slotsMax: link.slotsMax });
}

export function takesOffers({ draining, quarantinedUntil }: NodeLink): boolean {
  return !draining && quarantinedUntil === null;
}

export function sendFrame(link: NodeLink, frame: SentFrame): void {
  if (!hasEnded(link)) link.transport.send(JSON.stringify(frame));
}
