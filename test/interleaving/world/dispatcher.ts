import type { IncomingMessage } from 'node:http';
import type { PassThrough } from 'node:stream';
import { createFleetRegistry } from '@svc/queue';
import { createFailureLimit, newId, noTrustedProxies, type FailureLimit } from '@svc/runtime';
import { noTracing } from '@svc/tracing';
import type { WebSocket } from 'ws';
import { onBusMessage } from '../../../services/dispatcher/src/bus-messages.ts';
import type { Dispatcher } from '../../../services/dispatcher/src/dispatcher.ts';
import { handBackLinks } from '../../../services/dispatcher/src/drain.ts';
import { startFleetRefresh } from '../../../services/dispatcher/src/fleet/fleet-member.ts';
import { followNodes } from '../../../services/dispatcher/src/fleet/follow-nodes.ts';
import { createLinks } from '../../../services/dispatcher/src/links/links.ts';
import { takeDispatch } from '../../../services/dispatcher/src/offering/take-dispatch.ts';
import { stopEndedRuns } from '../../../services/dispatcher/src/runs/ended-runs.ts';
import { attachSocket, transportOf } from '../../../services/dispatcher/src/wire/link-socket.ts';
import { openLink } from '../../../services/dispatcher/src/wire/node-link.ts';
import { decideUpgrade } from '../../../services/dispatcher/src/wire/upgrade.ts';
import type { SimulatedSocket } from '../host/ws.ts';
import { gatedOutsider } from '../schedule/outsider.ts';
import { SimulatedProcess } from '../schedule/process.ts';
import { redisPrefix, start, storeOf, type Ground } from './ground.ts';
import type { Listener } from './network.ts';

/**
 * A dispatcher process with the real code of its offers, runs and links. Its HTTP server, queue,
 * bus and replies are simulated.
 */
export class SimulatedDispatcher implements Listener {
  readonly process: SimulatedProcess;
  readonly #logic: Dispatcher;
  readonly #ground: Ground;
  readonly #failures: FailureLimit;
  isDraining = false;

  constructor(ground: Ground, name: string, skewMs: number) {
    const { scheduler, messaging, rig, logger } = ground;
    const process = new SimulatedProcess(scheduler, name, skewMs);
    this.#ground = ground;
    this.process = process;
    this.#failures = createFailureLimit({ clock: process });
    const registry = createFleetRegistry({
      redis: rig.redis,
      prefix: redisPrefix,
      nowMs: () => scheduler.nowMs,
    });
    const id = process.run(() => newId());
    this.#logic = {
      id,
      store: storeOf(ground, process),
      producer: messaging.producerOf(process),
      fleet: gatedOutsider(registry, {
        scheduler,
        process,
        name: 'fleet',
        failure: () => new Error('Redis does not answer'),
      }),
      bus: messaging.busOf(process, id, (message) => onBusMessage(this.#logic, message)),
      reply: messaging.replierOf(process),
      proveDispatched: (submissionId) => `proof of ${submissionId}`,
      links: createLinks(),
      offerings: new Map(),
      clock: process,
      timers: { after: (delayMs, run) => ({ clear: process.after(delayMs, run) }) },
      tracing: noTracing,
      logger,
      isSandbox: true,
      countBadFrame() {},
      timeFrame() {},
      timeOffer() {},
    };
    messaging.work('dispatch', process, (job) => takeDispatch(this.#logic, job));
    start(ground, process, async () => {
      followNodes(this.#logic);
      stopEndedRuns(this.#logic);
      await startFleetRefresh(this.#logic);
    });
  }

  async upgrade(
    request: IncomingMessage,
    accept: () => { readonly socket: SimulatedSocket; readonly connection: PassThrough },
  ): Promise<number | 'accepted'> {
    const { store, clock } = this.#logic;
    const { logger } = this.#ground;
    const unavailable = 503;
    if (this.isDraining) return unavailable;
    try {
      const decision = await decideUpgrade(request, {
        store,
        clock,
        failures: this.#failures,
        proxies: noTrustedProxies,
        isTlsOnly: false,
      });
      if (decision.kind === 'refused') return 401;
      if (this.isDraining) return unavailable;
      const { socket: webSocket, connection } = accept();
      if (!hasInterfaceOfLinks(webSocket)) throw new Error('the simulated socket is not open');
      const transport = transportOf(webSocket, connection, logger);
      const link = openLink(this.#logic, transport, decision);
      attachSocket(webSocket, link, { clock, logger });
      return 'accepted';
    } catch {
      return unavailable;
    }
  }

  /**
   * Refuses new links, closes the open ones, then kills the process. Unlike a real dispatcher, the
   * process takes new jobs until it is killed.
   */
  drain(): void {
    this.isDraining = true;
    start(this.#ground, this.process, async () => {
      await handBackLinks(this.#logic);
      this.kill();
    });
  }

  kill(): void {
    this.process.kill();
    this.#ground.network.killed(this.process);
  }
}

/**
 * Checks only that the socket is open. The type needs no check, because a simulated socket
 * implements every member of `WebSocket` that links use.
 */
function hasInterfaceOfLinks(socket: SimulatedSocket): socket is SimulatedSocket & WebSocket {
  return socket.readyState === socket.OPEN;
}
