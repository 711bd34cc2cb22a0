import type { MakeOffer, SentFrame } from '@svc/contracts';
import { slotsOf } from '@svc/domain';
import type { Logger } from '@svc/runtime';

import type { ForeignFrames } from './foreign-frames.ts';
import type { FrameRate } from './frame-rate.ts';
import type { OrderedWork } from './ordered-work.ts';
import type { Timer } from '../timers.ts';

/** The socket of a link, as its protocol needs it. */
export interface LinkTransport {
  send(text: string): void;
  /** Starts the closing handshake; nothing is read any more. */
  close(code: number, reason: string): void;
  /** Stops and goes on reading, so that a node cannot pile up work here. */
  pause(): void;
  resume(): void;
}

/** An offer that the node has not answered yet. */
export interface HeldOffer {
  readonly message: MakeOffer;
  readonly timer: Timer;
  readonly sentAtMs: number;
}

/** A submission that takes one of the node's slots. */
export interface HeldRun {
  readonly submissionId: string;
  /** Of the request that caused it, once a commit of this process has told. */
  requestId?: string;
  /** False while its `dispatched` is being committed, so that the node was not told of it yet. */
  isAssigned: boolean;
  /** The node must stop: it has been, or is about to be, sent `cancel`, `stop` or `revoke`. */
  isStopping: boolean;
  /** By the monotonic clock: when it was last known to be the node's, at first when it took the slot. */
  lookedAtMs: number;
  /** When its slot is free although the node has not said `stopped`. */
  slotTimer?: Timer;
}

/** One node's connection, and what the service knows of it for as long as it lasts. */
export interface NodeLink {
  readonly linkId: string;
  readonly nodeId: string;
  readonly transport: LinkTransport;
  readonly logger: Logger;
  readonly work: OrderedWork;
  /** `greeting` from the `hello` to the `welcome`. What an ended link still says does not count. */
  state: 'connected' | 'greeting' | 'open' | 'ended';
  /** Resolves when the `welcome` is sent, or the link has ended before. */
  greeted: Promise<void>;
  readonly rate: FrameRate;
  badFrames: number;
  /** Counts frames that name submissions which are not this node's. */
  readonly foreign: ForeignFrames;
  /** When a link that does not say `hello` is closed. */
  helloTimer?: Timer;
  /** The number of this link in Postgres: the highest of a node's is its current link. */
  readonly linkEpoch: number;
  /** The agent's process, if it says which; known from the `hello` on. */
  instanceId?: string | undefined;
  /** Of the fleet registry; 0 until it has been entered there. */
  epoch: number;
  enteredAtMs: number;
  jobTypes: readonly string[];
  /** How many slots the node asks for, how many it may have, and the less of both. */
  slotsWished: number;
  slotsMax: number;
  slots: number;
  /** No more offers: the node has said so, or an operator, or this dispatcher is stopping. */
  draining: boolean;
  /** By the database's clock: until then it is offered nothing (CONTRACT 7). */
  quarantinedUntil: Date | null;
  /** An operator has: the node is told so with `drain`. */
  isDrainOrdered: boolean;
  /** Of the secret that the upgrade was signed with. */
  readonly secretVersion: number;
  /** By the database's clock, where a newer secret has taken its place. */
  secretExpiresAt: Date | null;
  readonly offers: Map<string, HeldOffer>;
  readonly runs: Map<string, HeldRun>;
}

/** The links of this process. */
export interface Links {
  readonly all: Set<NodeLink>;
  /** Those that have said `hello`, at most one a node. */
  readonly byNode: Map<string, NodeLink>;
  /**
   * Whose slot a submission takes: two nodes' while both have accepted it and one of them is about to
   * be told that it came too late.
   */
  readonly bySubmission: Map<string, Set<NodeLink>>;
  /** The runs whose slot the fleet registry knows as reserved only. */
  readonly unconfirmed: Map<HeldRun, NodeLink>;
}

/** The submission takes a slot of this link from now on. */
export function holdRun({ bySubmission }: Links, link: NodeLink, run: HeldRun): void {
  const { submissionId } = run;
  link.runs.set(submissionId, run);
  const holders = bySubmission.get(submissionId);
  if (holders === undefined) bySubmission.set(submissionId, new Set([link]));
  else holders.add(link);
}

/** This link is not found by the submission any more; others that hold it are. */
export function forgetHolder({ bySubmission }: Links, link: NodeLink, submissionId: string): void {
  const holders = bySubmission.get(submissionId);
  holders?.delete(link);
  if (holders?.size === 0) bySubmission.delete(submissionId);
}

export function createLinks(): Links {
  return { all: new Set(), byNode: new Map(), bySubmission: new Map(), unconfirmed: new Map() };
}

/** Asked again after every wait: a link may end at any time. */
export function hasEnded(link: NodeLink): boolean {
  return link.state === 'ended';
}

/** The node has as many slots as it asks for, and no more than it may have. */
export function applySlots(link: NodeLink): void {
  link.slots = slotsOf({ wished: link.slotsWished, slotsMax: link.slotsMax });
}

/** Whether it may be sent an offer. */
export function takesOffers({ draining, quarantinedUntil }: NodeLink): boolean {
  return !draining && quarantinedUntil === null;
}

/** Sends a frame, or nothing where the link has ended. */
export function sendFrame(link: NodeLink, frame: SentFrame): void {
  if (!hasEnded(link)) link.transport.send(JSON.stringify(frame));
}
