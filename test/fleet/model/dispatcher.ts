import type { DispatchJob } from '@svc/contracts';
import { slotsMaxMax } from '@svc/domain';
import {
  createDispatcherBus,
  createFleetRegistry,
  type DispatcherBus,
  type Producer,
} from '@svc/queue';
import { newId, type Logger } from '@svc/runtime';
import { takeLinkEpoch } from '@svc/store';
import { noTracing } from '@svc/tracing';
import { onBusMessage } from '../../../services/dispatcher/src/bus-messages.ts';
import type { Dispatcher } from '../../../services/dispatcher/src/dispatcher.ts';
import { handBackLinks } from '../../../services/dispatcher/src/drain.ts';
import { refreshFleet } from '../../../services/dispatcher/src/fleet/fleet-member.ts';
import { createLinks } from '../../../services/dispatcher/src/links/links.ts';
import { takeDispatch } from '../../../services/dispatcher/src/offering/take-dispatch.ts';
import { openLink } from '../../../services/dispatcher/src/wire/node-link.ts';
import type { Activity } from './activity.ts';
import { ModelLink } from './link.ts';
import { Mortal } from './mortal.ts';
import type { ModelNode } from './node.ts';
import type { Rig } from './rig.ts';
import type { ModelTime } from './time.ts';

export interface Ground {
  readonly rig: Rig;
  readonly time: ModelTime;
  readonly activity: Activity;
  readonly logger: Logger;
  readonly prefix: string;
  /** Takes the jobs that a dispatcher enqueues. It keeps settlement jobs and drops webhook jobs. */
  readonly producer: Producer;
  readonly replied: (submissionIds: readonly string[]) => void;
  readonly peers: () => readonly ModelDispatcher[];
}

const listenTimeoutMs = 5_000;

/**
 * The dispatcher's own code on a real Postgres and Redis, without its sockets, its queue consumer
 * and its process.
 */
export class ModelDispatcher {
  readonly id = newId();
  readonly mortal: Mortal;
  readonly logic: Dispatcher;
  readonly #ground: Ground;
  readonly #bus: DispatcherBus;
  readonly #links = new Set<ModelLink>();
  readonly #jobs = new Set<Promise<void>>();
  closed: Promise<void> = Promise.resolve();

  private constructor(ground: Ground) {
    const { rig, time, activity, logger, prefix } = ground;
    this.#ground = ground;
    this.mortal = new Mortal(activity, () => this.#buried());
    this.#bus = createDispatcherBus({
      redis: rig.redis,
      redisUrl: rig.redisUrl,
      prefix,
      dispatcherId: this.id,
      onMessage: (message) => {
        if (this.mortal.isDead) return;
        activity.mail(this.id, -1);
        onBusMessage(this.logic, message);
      },
      logger,
    });
    const registry = createFleetRegistry({ redis: rig.redis, prefix, nowMs: () => time.nowMs() });
    this.logic = {
      id: this.id,
      store: this.mortal.store(rig.store),
      producer: this.mortal.outsider(ground.producer),
      fleet: this.mortal.outsider(registry),
      bus: this.#countedBus(),
      proveDispatched: (submissionId) => `proof of ${submissionId}`,
      reply: async (_channel, { submissionId }) => ground.replied([submissionId]),
      links: createLinks(),
      offerings: new Map(),
      clock: time,
      timers: time.timers(() => !this.mortal.isDead),
      tracing: noTracing,
      logger,
      isSandbox: true,
      countBadFrame: () => {},
      timeFrame: () => {},
      timeOffer: () => {},
    };
  }

  static async start(ground: Ground): Promise<ModelDispatcher> {
    const dispatcher = new ModelDispatcher(ground);
    if (!(await dispatcher.#bus.listening(listenTimeoutMs)))
      throw new Error('the dispatcher cannot listen to its bus');
    await refreshFleet(dispatcher.logic);
    return dispatcher;
  }

  get isAlive(): boolean {
    return !this.mortal.isDead;
  }

  /** Returns a bus that counts its messages, because a run waits until none is in flight. */
  #countedBus(): DispatcherBus {
    const { activity, peers } = this.#ground;
    return {
      ...this.#bus,
      send: (to, message) =>
        this.mortal.outside(async () => {
          const isHeard = await this.#bus.send(to, message);
          const isAlive = peers().some((peer) => peer.id === to && peer.isAlive);
          if (isHeard && isAlive) activity.mail(to, 1);
          return isHeard;
        }),
      broadcast: (message) =>
        this.mortal.outside(async () => {
          await this.#bus.broadcast(message);
          for (const peer of peers()) if (peer !== this && peer.isAlive) activity.mail(peer.id, 1);
        }),
    };
  }

  take(job: DispatchJob): void {
    const done = takeDispatch(this.logic, job)
      .catch((error: unknown) => {
        // Ignore the errors of a dead dispatcher. A killed process would report none.
        if (!this.mortal.isDead) throw error;
      })
      .finally(() => this.#jobs.delete(done));
    this.#jobs.add(done);
  }

  get jobs(): number {
    return this.#jobs.size;
  }

  /**
   * Accepts the WebSocket upgrade of a node. One SQL statement gives the link its epoch. If the
   * dispatcher is still alive after this statement, the node sends `hello`.
   */
  connect(node: ModelNode): void {
    const { activity, rig } = this.#ground;
    void activity.during(async () => {
      const own = { nodeId: node.id, secretVersion: 1 };
      const linkEpoch = await takeLinkEpoch(rig.store, own);
      if (this.isAlive && linkEpoch !== null) this.#attach(node, linkEpoch);
    });
  }

  #attach(node: ModelNode, linkEpoch: number): void {
    const link = new ModelLink(
      node,
      this.#ground.time.timers(() => true),
    );
    const { id: nodeId, isDraining } = node;
    const accepted = {
      nodeId,
      draining: isDraining,
      secretVersion: 1,
      secretExpiresAt: null,
      linkEpoch,
      slotsMax: slotsMaxMax,
      clientAddress: undefined,
    };
    link.attach(openLink(this.logic, link, accepted));
    this.#links.add(link);
    if (node.link !== undefined) node.unlinked();
    node.link = link;
    node.send(node.hello());
  }

  async refresh(): Promise<void> {
    await this.mortal.orDead(refreshFleet(this.logic));
  }

  /**
   * Stops the dispatcher as SIGTERM does. Calls `passTime` until all links have ended. Each call
   * must advance the clock by the dispatch deadline. Throws if a job outlasts one call.
   */
  async drain(passTime: () => Promise<void>): Promise<void> {
    await passTime();
    if (this.isAlive && this.#jobs.size > 0)
      throw new Error(
        'the deadline of a dispatch job has passed, but the dispatcher still works on the job',
      );
    const stop = { isOver: false };
    const handedBack = this.mortal.orDead(handBackLinks(this.logic)).finally(() => {
      stop.isOver = true;
    });
    while (!stop.isOver) await passTime();
    await handedBack;
    this.mortal.die();
  }

  #buried(): void {
    this.#ground.activity.forget(this.id);
    for (const link of this.#links) link.serviceDied();
    this.#links.clear();
    this.closed = this.#bus.close();
  }
}
