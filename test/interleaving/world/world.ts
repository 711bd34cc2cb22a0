import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { createLogger } from '@svc/runtime';
import type { TenantCredentials } from '@svc/store';
import type { Random } from '../../simulation/random.ts';
import { Auditor } from '../audit/auditor.ts';
import { Requests } from '../audit/requests.ts';
import { readRows } from '../audit/rows.ts';
import { SimulatedProcess } from '../schedule/process.ts';
import { Quiet } from '../schedule/quiet.ts';
import { Scheduler, type Rates } from '../schedule/scheduler.ts';
import { SimulatedAgent, type AgentPlace } from './agent.ts';
import { SimulatedDispatcher } from './dispatcher.ts';
import { SimulatedGateway } from './gateway.ts';
import type { Ground } from './ground.ts';
import { Messaging } from './messaging.ts';
import { Network } from './network.ts';
import type { Rig } from './rig.ts';
import { SimulatedSettlement } from './settlement.ts';

export interface Shape {
  readonly tenants: number;
  readonly nodes: number;
  readonly dispatchers: number;
  readonly rates: Rates;
}

interface Given {
  readonly seed: number;
  readonly random: Random;
  /**
   * The source of ids. It is separate from `random`, so an additional id does not change what
   * `random` draws.
   */
  readonly ids: Random;
  readonly stateDir: string;
}

const skewsMs = [0, 0, 0, -1_500, 1_500, 90_000, -90_000];
const slotsMin = 2;
const slotsMore = 4;

export class World {
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly messaging: Messaging;
  readonly auditor: Auditor;
  readonly requests: Requests;
  readonly rig: Rig;
  readonly random: Random;
  readonly stateDir: string;
  tenants: TenantCredentials[] = [];
  nodes: AgentPlace[] = [];
  gateways: SimulatedGateway[] = [];
  dispatchers: SimulatedDispatcher[] = [];
  settlements: SimulatedSettlement[] = [];
  agents: SimulatedAgent[] = [];
  readonly keys: { readonly tenant: TenantCredentials; readonly key: string }[] = [];
  readonly #working = new Map<SimulatedAgent, Set<string>>();
  readonly #ground: Ground;
  /** Called once, when the next assignment is on an agent's disk. */
  atNextAssignment: ((agent: SimulatedAgent) => void) | undefined;
  #isDirty = false;
  #count = 0;

  private constructor(rig: Rig, { seed, random, ids, rates, stateDir }: Given & { rates: Rates }) {
    this.rig = rig;
    this.random = random;
    this.stateDir = stateDir;
    this.scheduler = new Scheduler({
      seed,
      random,
      ids,
      rates,
      quiet: new Quiet(() => rig.countLockWaits()),
      startMs: rig.nextStartMs(),
      onMove: async (nowMs) => {
        await rig.setTime(nowMs);
        this.network.ping();
      },
    });
    this.network = new Network(this.scheduler, () =>
      this.dispatchers.filter(({ process, isDraining }) => !process.isDead && !isDraining),
    );
    this.messaging = new Messaging(this.scheduler);
    this.auditor = new Auditor((nodeId, key) => this.#isWorkedOn(nodeId, key));
    this.requests = new Requests(this.auditor, this.messaging.enqueued);
    this.network.onError = (error) => this.auditor.complain('network', String(error));
    this.#ground = {
      rig,
      scheduler: this.scheduler,
      network: this.network,
      messaging: this.messaging,
      logger: createLogger({ service: 'interleaving', level: 'silent' }),
      onCommit: () => {
        this.#isDirty = true;
      },
      complain: (subject, what) => this.auditor.complain(subject, what),
    };
  }

  static async open(rig: Rig, shape: Shape, given: Given): Promise<World> {
    const world = new World(rig, { ...given, rates: shape.rates });
    await rig.setTime(world.scheduler.nowMs);
    await rig.redis.flushall();
    const setUp = new SimulatedProcess(world.scheduler, 'set-up', 0);
    for (let count = 0; count < shape.tenants; count += 1)
      world.tenants.push(await setUp.run(() => rig.newTenant()));
    for (let count = 0; count < shape.nodes; count += 1) {
      const nodeId = await setUp.run(() => rig.newNode());
      world.nodes.push(world.#place(nodeId, `node-${count + 1}`));
    }
    setUp.kill();
    for (let count = 0; count < shape.dispatchers; count += 1) world.startDispatcher();
    world.startGateway();
    world.startGateway();
    world.startSettlement();
    for (const place of world.nodes) world.startAgent(place);
    return world;
  }

  #place(nodeId: string, name: string): AgentPlace {
    const stateDir = path.join(this.stateDir, name);
    const slots = slotsMin + this.random.nat(slotsMore);
    return { nodeId, stateDir, tmpDir: this.newTmpDir(), slots };
  }

  newTmpDir(): string {
    const tmpDir = path.join(this.stateDir, `tmp-${(this.#count += 1)}`);
    mkdirSync(tmpDir, { recursive: true });
    return tmpDir;
  }

  newName(letter: string): string {
    return `${letter}${(this.#count += 1)}`;
  }

  #skewMs(): number {
    return this.random.pick(skewsMs) ?? 0;
  }

  startDispatcher(): void {
    this.dispatchers.push(new SimulatedDispatcher(this.#ground, this.newName('D'), this.#skewMs()));
  }

  startGateway(): void {
    this.gateways.push(new SimulatedGateway(this.#ground, this.newName('G'), this.#skewMs()));
  }

  startSettlement(): void {
    this.settlements.push(new SimulatedSettlement(this.#ground, this.newName('S'), this.#skewMs()));
  }

  startAgent(place: AgentPlace): void {
    const acts = {
      began: (key: string, agent: SimulatedAgent) => {
        this.scheduler.trace.add(this.scheduler.nowMs, `${agent.process.name} ACTS for ${key}`);
        this.auditor.began(key);
        const keys = this.#working.get(agent) ?? new Set();
        this.#working.set(agent, keys.add(key));
      },
      ended: (key: string, agent: SimulatedAgent) => {
        this.#working.get(agent)?.delete(key);
      },
      assigned: (agent: SimulatedAgent) => {
        this.atNextAssignment?.(agent);
        this.atNextAssignment = undefined;
      },
    };
    this.agents.push(new SimulatedAgent(this.#ground, acts, this.newName('N'), place));
  }

  #isWorkedOn(nodeId: string, key: string): boolean {
    const own = this.agents.filter(({ place }) => place.nodeId === nodeId);
    const current = this.network.currentOf(new Set(own.map(({ process }) => process)));
    return own.some((one) => one.process === current && this.#working.get(one)?.has(key) === true);
  }

  async audit(): Promise<void> {
    this.requests.look(this.scheduler.nowMs);
    if (!this.#isDirty) return;
    this.#isDirty = false;
    const { rows, accounts } = await readRows(
      this.rig,
      this.tenants.map(({ tenantId }) => tenantId),
    );
    this.auditor.look(rows, accounts);
  }

  /** Ends every process, and waits until no work of the run is in progress. */
  async close(): Promise<void> {
    for (const agent of this.agents) if (!agent.process.isDead) agent.kill();
    for (const { process } of [...this.dispatchers, ...this.gateways, ...this.settlements])
      if (!process.isDead) process.kill();
    await this.scheduler.quiet.reached();
  }
}

export function alive<T extends { readonly process: SimulatedProcess }>(all: readonly T[]): T[] {
  return all.filter(({ process }) => !process.isDead);
}
