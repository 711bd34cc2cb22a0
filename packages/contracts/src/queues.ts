import { dispatchConcurrencyDefault, jobLockMs, settlementConcurrencyDefault } from '@svc/domain';
import { Type, type Static } from 'typebox';
import { OfferFacts } from './offer-facts.ts';

/**
 * The catalogue of the BullMQ queues between services (docs/ARCHITECTURE.md, Queues). Payloads
 * contain ids and facts that never change. They never contain personal data, or copies of state
 * that can change, because Postgres has the truth.
 */

export const jobIdsMax = 64;

const Uuid = Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' });
const Uuids = Type.Array(Uuid, { minItems: 1, maxItems: jobIdsMax });

/**
 * Wakes a dispatcher, which offers the submissions to nodes. `replyTo` is the channel of the
 * waiting gateway, or null if no gateway waits. `held` has the facts of each submission, in the
 * order of the ids. While `sentAtMs` is recent, `held` saves the dispatcher the read of Postgres
 * before it offers (docs/decisions/0017). If `held` is missing or not recent, the dispatcher reads
 * Postgres first. `sentAtMs` is by the clock of the gateway.
 */
export const DispatchJob = Type.Object(
  {
    submissionIds: Uuids,
    replyTo: Type.Union([Type.String({ minLength: 1, maxLength: 128 }), Type.Null()]),
    held: Type.Optional(
      Type.Object(
        {
          sentAtMs: Type.Integer(),
          each: Type.Array(
            // `heldAtMs` is by the database's clock. `tenantId` decides who gets a slot while slots
            // are short. A gateway of the previous version omits `tenantId`.
            Type.Object(
              {
                heldAtMs: Type.Integer(),
                facts: OfferFacts,
                tenantId: Type.Optional(Uuid),
              },
              { additionalProperties: false },
            ),
            { minItems: 1, maxItems: jobIdsMax },
          ),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);
export type DispatchJob = Static<typeof DispatchJob>;
export type HeldFacts = NonNullable<DispatchJob['held']>['each'][number];

export const SettlementJob = Type.Object({ submissionIds: Uuids }, { additionalProperties: false });
export type SettlementJob = Static<typeof SettlementJob>;

/** Tenants with due deliveries. Postgres has the deliveries themselves. */
export const WebhookJob = Type.Object({ tenantIds: Uuids }, { additionalProperties: false });
export type WebhookJob = Static<typeof WebhookJob>;

interface QueueDefinition {
  readonly name: string;
  readonly schema: typeof DispatchJob | typeof SettlementJob | typeof WebhookJob;
  /**
   * The most attempts of a job that end with an error. After the last one, or after the first
   * `InvalidJob`, the job is given up, and the reconciler of the queue finds the work in Postgres.
   * A stalled attempt does not count (`stalledCountMax`).
   */
  readonly attemptsMax: number;
  /** If a worker has not renewed its lock of a job for this long, the job counts as stalled. */
  readonly lockDurationMs: number;
  readonly concurrency: number;
  /**
   * The most times that a stalled job goes back to the queue. At the next stall, the job is given
   * up, and the reconciler of the queue finds the work in Postgres.
   */
  readonly stalledCountMax: number;
}

export const queues = {
  dispatch: {
    name: 'dispatch.v1',
    schema: DispatchJob,
    attemptsMax: 1,
    lockDurationMs: jobLockMs,
    concurrency: dispatchConcurrencyDefault,
    stalledCountMax: 0,
  },
  settlement: {
    name: 'settlement.v1',
    schema: SettlementJob,
    attemptsMax: 3,
    lockDurationMs: jobLockMs,
    concurrency: settlementConcurrencyDefault,
    stalledCountMax: 1,
  },
  webhook: {
    name: 'webhook.v1',
    schema: WebhookJob,
    attemptsMax: 1,
    lockDurationMs: 60_000,
    // Each process runs one job at a time. While the next job waits, further tenants with due
    // deliveries join that job.
    concurrency: 1,
    stalledCountMax: 1,
  },
} as const satisfies Record<string, QueueDefinition>;

export type QueueKey = keyof typeof queues;
export interface JobOf {
  dispatch: DispatchJob;
  settlement: SettlementJob;
  webhook: WebhookJob;
}
