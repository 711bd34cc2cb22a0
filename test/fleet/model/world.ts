import { randomBytes } from 'node:crypto';
import { fromWireId, microsPerCredit, toWireId, type Tier } from '@svc/domain';
import { publishCancelled, type Producer } from '@svc/queue';
import { createLogger, newId } from '@svc/runtime';
import { cancelSubmission, holdSubmission } from '@svc/store';
import { noTracing } from '@svc/tracing';
import { reconcile } from '../../../services/settlement/src/reconcile.ts';
import { settleSubmissions, type SettleDeps } from '../../../services/settlement/src/settle.ts';
import { Activity } from './activity.ts';
import { Auditor } from './auditor.ts';
import { ModelDispatcher, type Ground } from './dispatcher.ts';
import type { Fleet } from './node-steps.ts';
import { ModelNode } from './node.ts';
import type { Rig } from './rig.ts';
import { ModelTime } from './time.ts';

export interface Posted {
  readonly id: string;
  readonly tenantId: string;
  readonly wireId: string;
  readonly tier: Tier;
  readonly coordinator: ModelDispatcher;
}

const slotsOf = [1, 2, 3, 1];
const maxMicros: Record<Tier, bigint> = {
  standard: 200n * microsPerCredit,
  priority: 300n * microsPerCredit,
  instant: 500n * microsPerCredit,
};
const payloadText =
  '{"applicationUrl":"https://jobs.example.com/apply","atsType":"model","applicantProfile":{},"jobContext":{"title":"Welder","company":"Example Works"}}';

export class World implements Fleet {
  readonly auditor = new Auditor();
  readonly activity = new Activity();
  readonly dispatchers: ModelDispatcher[] = [];
  readonly nodes: ModelNode[] = [];
  readonly posted: Posted[] = [];
  readonly replied = new Set<string>();
  readonly ran: string[] = [];
  readonly rig: Rig;
  readonly time: ModelTime;
  readonly #ground: Ground;
  readonly #settleDeps: SettleDeps;
  /**
   * The ids of two tenants. With two, dispatchers also divide scarce slots between tenants. The
   * model does not check that the division is fair.
   */
  readonly tenantIds: readonly string[];
  readonly prefix = 'model';
  #settlements: string[] = [];

  private constructor(rig: Rig, tenantIds: readonly string[]) {
    this.rig = rig;
    this.tenantIds = tenantIds;
    this.time = new ModelTime(rig.startMs, (nowMs) => rig.setTime(nowMs));
    const logger = createLogger({
      service: 'model',
      level: 'error',
      destination: { write: (line) => this.auditor.complain('log', line.trim()) },
    });
    const producer = this.#producer();
    this.#settleDeps = {
      store: rig.store,
      producer,
      tracing: noTracing,
      logger,
      countSettled() {},
      timeSettlement() {},
      countUsageCapped() {},
    };
    this.#ground = {
      rig,
      time: this.time,
      activity: this.activity,
      logger,
      prefix: this.prefix,
      producer,
      replied: (ids) => ids.forEach((id) => this.replied.add(id)),
      peers: () => this.dispatchers,
    };
  }

  static async open(rig: Rig, shape: { nodes: number; dispatchers: number }): Promise<World> {
    await rig.setTime(rig.startMs);
    await rig.redis.flushall();
    const world = new World(rig, [await rig.newTenant(), await rig.newTenant()]);
    const ids = await rig.newNodes(shape.nodes);
    const nowMs = (): number => world.time.nowMs();
    for (const [index, id] of ids.entries()) {
      world.nodes.push(
        new ModelNode(id, slotsOf[index % slotsOf.length] ?? 1, world.auditor, nowMs),
      );
    }
    for (let count = 0; count < shape.dispatchers; count += 1) await world.startDispatcher();
    for (const [index, node] of world.nodes.entries()) {
      world.dispatchers[index % shape.dispatchers]?.connect(node);
    }
    await world.settled();
    return world;
  }

  async close(): Promise<void> {
    for (const dispatcher of this.dispatchers) dispatcher.mortal.die();
    await Promise.all(this.dispatchers.map(({ closed }) => closed));
  }

  get tenantId(): string {
    return this.tenantIds[0] ?? '';
  }

  get submissions(): string[] {
    return this.posted.map(({ wireId }) => wireId);
  }

  get alive(): ModelDispatcher[] {
    return this.dispatchers.filter(({ isAlive }) => isAlive);
  }

  settled(): Promise<void> {
    return this.activity.settled();
  }

  async startDispatcher(): Promise<void> {
    await this.settled();
    this.dispatchers.push(await ModelDispatcher.start(this.#ground));
  }

  async post(
    tiers: readonly Tier[],
    coordinator: ModelDispatcher,
    tenantId = this.tenantId,
  ): Promise<void> {
    const ids = await Promise.all(tiers.map((tier) => this.#hold(tier, coordinator, tenantId)));
    coordinator.take({ submissionIds: ids, replyTo: 'model' });
  }

  async #hold(tier: Tier, coordinator: ModelDispatcher, tenantId: string): Promise<string> {
    const id = newId();
    const held = await holdSubmission(this.rig.store, {
      id,
      tenantId,
      idempotencyKey: id,
      requestHash: randomBytes(32),
      requestId: `req-${id}`,
      jobType: 'ats.application',
      tier,
      payloadText,
      quote: {
        estimatedMicros: 20n * microsPerCredit,
        maxMicros: maxMicros[tier],
        surgeMicros: microsPerCredit,
        rateCardVersion: 1,
      },
    });
    if (held.kind !== 'held') throw new Error(`the hold failed: ${held.kind}`);
    this.posted.push({ id, tenantId, wireId: toWireId('sub', id), tier, coordinator });
    return id;
  }

  /**
   * Does the work of a gateway for a cancel. Without `isAnnounced`, the message to the dispatchers
   * is lost.
   */
  async cancel(wireId: string, { isAnnounced }: { readonly isAnnounced: boolean }): Promise<void> {
    const { rig } = this;
    const id = fromWireId('sub', wireId) ?? '';
    const tenantId = this.posted.find((one) => one.id === id)?.tenantId ?? this.tenantId;
    const outcome = await this.activity.during(() =>
      cancelSubmission(rig.store, { submissionId: id, tenantId, by: 'tenant' }),
    );
    if (outcome.kind !== 'cancelled' || !isAnnounced) return;
    await this.activity.during(() => publishCancelled(rig.redis, this.prefix, id));
    this.#mailAll();
  }

  async settle(): Promise<void> {
    const ids = this.#settlements.splice(0);
    if (ids.length > 0) await this.activity.during(() => settleSubmissions(this.#settleDeps, ids));
  }

  async sweep(): Promise<void> {
    await this.activity.during(() =>
      reconcile({
        ...this.#settleDeps,
        redis: this.rig.redis,
        redisPrefix: this.prefix,
        countReconciled: (kind) => {
          if (kind !== 'unsettled' && kind !== 'stale_pending') this.#mailAll();
        },
      }),
    );
  }

  /** Empties Redis. The registry and the queue are lost. */
  async flush(): Promise<void> {
    this.#settlements = [];
    await this.rig.redis.flushall();
  }

  async advance(ms: number): Promise<void> {
    await this.time.advance(ms, () => this.settled());
    await Promise.all(this.alive.map((dispatcher) => dispatcher.refresh()));
  }

  #mailAll(): void {
    for (const { id } of this.alive) this.activity.mail(id, 1);
  }

  #producer(): Producer {
    const enqueue: Producer['enqueue'] = async (_key, job) => {
      if ('submissionIds' in job) this.#settlements.push(...job.submissionIds);
    };
    return {
      enqueue,
      enqueueBulk: async (key, jobs) => {
        for (const { job } of jobs) await enqueue(key, job);
      },
      countWaiting: async () => this.#settlements.length,
      isPaused: async () => false,
      joinWaitingWakeUp: async () => true,
      async close() {},
    };
  }
}
