import { randomUUID } from 'node:crypto';
import {
  assignPayloadText,
  type DeclineReason,
  type FrameFromNode,
  type FrameToNode,
  type FrameToNodeOf,
} from '@svc/contracts';
import { acceptedOfferVoidAfterMs } from '@svc/domain';
import { reconnectDelayMs, type LinkEnd } from './backoff.ts';
import type { Executor, Failure } from './executor.ts';
import { type History, noHistory } from './history.ts';
import { isJournalable, type Journal } from './journal.ts';
import type { Log } from './log.ts';
import type { ObservedAddresses } from './observed-addresses.ts';
import { createRecovery, type Recovery } from './recovery.ts';
import { NodeRuns } from './runs.ts';
import { openSocket, type NodeIdentity, type NodeSocket } from './socket.ts';
import { untilIdle } from './until-idle.ts';

export interface AgentOptions extends NodeIdentity {
  readonly slots: number;
  readonly executors: readonly Executor[];
  /**
   * True if the node was started with `--map-host` or `--debug-dir`, which production refuses
   * (CONTRACT 7, "Sandbox options"). The default is false.
   */
  readonly isSandboxOnly?: boolean;
  readonly journal: Journal;
  /**
   * The past assignments. Without a history the node reports nothing in a recovery
   * (CONTRACT 7, "Recovery").
   */
  readonly history?: History;
  /** Notes the addresses from which the service sees this node. */
  readonly observed?: ObservedAddresses;
  readonly log: Log;
  /** Returns a number from 0 to 1 for the jitter of the reconnect delay. Default: `Math.random`. */
  readonly random?: () => number;
}

export interface Agent {
  /**
   * Declines all further offers. Resolves with true when the node has no accepted offer and no
   * submission left, or with false after `timeoutMs`.
   */
  drain(timeoutMs: number): Promise<boolean>;
  /**
   * Stops the running submissions, then ends the link. Unfinished submissions stay in the journal.
   */
  close(): Promise<void>;
}

export const agentVersion = '0.1.0';

const missingOffer: Failure = { code: 'node_error', message: 'The node had no offer of this job.' };

interface AcceptedOffer {
  readonly jobType: string;
  readonly maxNodeSeconds: number;
  readonly timer: NodeJS.Timeout;
}

interface State {
  readonly options: AgentOptions;
  /**
   * Identifies this start of the agent. Another instance never runs a submission that this instance
   * has begun.
   */
  readonly instanceId: string;
  readonly runs: NodeRuns;
  readonly recovery: Recovery;
  readonly accepted: Map<string, AcceptedOffer>;
  socket: NodeSocket | undefined;
  /**
   * True from `welcome` to the end of the link. Before it, the node does not know if the service
   * recovers, and sends nothing but `hello`.
   */
  isGreeted: boolean;
  isDraining: boolean;
  /** True after the frame `drain`: an operator drains this node. Reset when the link ends. */
  isDrainOrdered: boolean;
  isClosed: boolean;
  failures: number;
  hasBeenReady: boolean;
  reconnecting?: NodeJS.Timeout;
  readonly idleChecks: Set<() => void>;
}

/** Runs a node (CONTRACT 7): connects, and reconnects until the agent is closed. */
export function startAgent(options: AgentOptions): Agent {
  const { journal, history = noHistory, executors, log } = options;
  const changed = (): void => {
    for (const check of state.idleChecks) check();
  };
  const runs = new NodeRuns({
    journal,
    history,
    executors,
    send: (frame) => {
      if (!recovery.holds(frame)) send(state, frame);
    },
    onChange: changed,
    log,
  });
  const recovery = createRecovery({
    history,
    phaseOf: (submissionId) => runs.phaseOf(submissionId),
    resume: () => runs.resume(),
    send: (frame) => send(state, frame),
  });
  const state: State = {
    options,
    instanceId: randomUUID(),
    runs,
    recovery,
    accepted: new Map(),
    socket: undefined,
    isGreeted: false,
    isDraining: false,
    isDrainOrdered: false,
    isClosed: false,
    failures: 0,
    hasBeenReady: false,
    idleChecks: new Set(),
  };
  connect(state);
  return {
    async drain(timeoutMs) {
      state.isDraining = true;
      send(state, { type: 'drain' });
      const isIdle = (): boolean => runs.size === 0 && state.accepted.size === 0;
      return await untilIdle(isIdle, state.idleChecks, timeoutMs);
    },
    async close() {
      state.isClosed = true;
      clearTimeout(state.reconnecting);
      forgetOffers(state);
      await runs.close();
      state.socket?.close();
    },
  };
}

function send({ socket, isGreeted }: State, frame: FrameFromNode): void {
  if (isGreeted || frame.type === 'hello') socket?.send(frame);
}

function connect(state: State): void {
  const { options, runs } = state;
  const events = {
    opened(socket: NodeSocket): void {
      state.socket = socket;
      send(state, {
        type: 'hello',
        agentVersion,
        instanceId: state.instanceId,
        jobTypes: options.executors.map(({ jobType }) => jobType),
        executors: options.executors.map(({ jobType, name, version }) => ({
          jobType,
          name,
          version,
        })),
        ...(options.isSandboxOnly === true && { sandboxOnly: true }),
        slots: options.slots,
        running: runs.ids(),
      });
    },
    received: (frame: FrameToNode, text: string): void => receive(state, frame, text),
    ended: (end: LinkEnd): void => reconnect(state, end),
  };
  openSocket(options, events, options.log);
}

function reconnect(state: State, end: LinkEnd): void {
  state.socket = undefined;
  state.isGreeted = false;
  state.isDrainOrdered = false;
  forgetOffers(state);
  state.recovery.end();
  if (state.isClosed) return;
  const { log, random = Math.random } = state.options;
  const delayMs = Math.round(reconnectDelayMs(end, state.failures, random()));
  state.failures += 1;
  log('info', 'the node has no link and connects again', { ...end, delayMs });
  state.reconnecting = setTimeout(() => connect(state), delayMs);
}

/** An accepted offer is void after the end of its link. */
function forgetOffers(state: State): void {
  for (const offerId of state.accepted.keys()) forgetOffer(state, offerId);
}

function forgetOffer(state: State, offerId: string): AcceptedOffer | undefined {
  const offer = state.accepted.get(offerId);
  clearTimeout(offer?.timer);
  state.accepted.delete(offerId);
  for (const check of state.idleChecks) check();
  return offer;
}

function receive(state: State, frame: FrameToNode, text: string): void {
  const { runs, options } = state;
  switch (frame.type) {
    case 'welcome':
      onWelcome(state, frame);
      return;
    case 'offer':
      onOffer(state, frame);
      return;
    case 'assign':
      onAssign(state, frame, text);
      return;
    case 'revoke':
      forgetOffer(state, frame.offerId);
      return;
    case 'begin':
      runs.begin(frame.submissionId);
      return;
    case 'ack':
      runs.acknowledge(frame.submissionId);
      state.recovery.acknowledged(frame.submissionId);
      return;
    case 'recorded':
      state.recovery.recorded(frame);
      return;
    case 'cancel':
      runs.stop(frame.submissionId);
      return;
    case 'drain':
      state.isDrainOrdered = true;
      options.log('info', 'draining: the node finishes its submissions', { running: runs.size });
      return;
    case 'error':
      options.log('warn', 'the service refused a frame', { code: frame.code });
      return;
  }
}

function onWelcome(state: State, welcome: FrameToNodeOf<'welcome'>): void {
  const { stop, recovery, observedAddress } = welcome;
  const { runs, options } = state;
  options.observed?.note(observedAddress);
  state.isGreeted = true;
  if (recovery !== undefined) state.recovery.begin();
  state.failures = 0;
  for (const submissionId of stop) runs.stop(submissionId);
  runs.resume();
  if (state.isDraining) send(state, { type: 'drain' });
  options.log('info', state.hasBeenReady ? 'linked again' : 'ready', { running: runs.size });
  state.hasBeenReady = true;
}

function onOffer(state: State, offer: FrameToNodeOf<'offer'>): void {
  const { offerId, jobType, maxNodeSeconds } = offer;
  const reason = reasonToDecline(state, offer);
  if (reason !== undefined) {
    send(state, { type: 'decline', offerId, reason });
    return;
  }
  const timer = setTimeout(() => forgetOffer(state, offerId), acceptedOfferVoidAfterMs);
  state.accepted.set(offerId, { jobType, maxNodeSeconds, timer });
  send(state, { type: 'accept', offerId });
}

function reasonToDecline(
  { isDraining, isDrainOrdered, options, runs, accepted }: State,
  offer: FrameToNodeOf<'offer'>,
): DeclineReason | undefined {
  if (isDraining || isDrainOrdered) return 'draining';
  const executor = options.executors.find(({ jobType }) => jobType === offer.jobType);
  if (executor === undefined || !isJournalable(offer.submissionId)) return 'unsupported';
  if (runs.size + accepted.size >= options.slots) return 'busy';
  return executor.consider?.(offer);
}

function onAssign(state: State, frame: FrameToNodeOf<'assign'>, text: string): void {
  const { submissionId, offerId } = frame;
  if (!isJournalable(submissionId)) return;
  const accepted = state.accepted.get(offerId);
  if (accepted === undefined) {
    // The node has dropped this offer, and may have reused its slot. Without this refusal, the
    // submission would end only later, as `not_started`.
    state.runs.refuse(submissionId, missingOffer);
    return;
  }
  const { jobType, maxNodeSeconds } = accepted;
  const payloadText = assignPayloadText(text);
  state.runs.assign({ submissionId, jobType, payloadText, maxNodeSeconds }, frame.receipt);
  forgetOffer(state, offerId);
}
