import { dispatchConcurrencyDefault, jobLockMs, settlementConcurrencyDefault } from '@svc/domain';
import { Type, type Static } from 'typebox';
import { OfferFacts } from './offer-facts.ts';

/**
 * The BullMQ queues between services (docs/ARCHITECTURE.md, Queues). Their jobs contain ids and
 * facts that never change, and no personal data.
 */

export const jobIdsMax = 64;

const Uuid = Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' });
const Uuids = Type.Array(Uuid, { minItems: 1, maxItems: jobIdsMax });

/** Wakes a dispatcher, which offers the submissions to nodes. */
export const DispatchJob = Type.Object(
  {
    submissionIds: Uuids,
    /** The Redis channel of the gateway that waits for the result, or null if no gateway waits. */
    replyTo: Type.Union([Type.String({ minLength: 1, maxLength: 128 }), Type.Null()]),
    /**
     * Facts about the submissions. If `sentAtMs` is recent, the dispatcher uses these facts and
     * does not read them from Postgres (decision 17).
     */
    held: Type.Optional(
      Type.Object(
        {
          /** By the clock of the gateway. */
          sentAtMs: Type.Integer(),
          /** The facts of each submission, in the order of `submissionIds`. */
          each: Type.Array(
            Type.Object(
              {
                /** By the database's clock. */
                heldAtMs: Type.Integer(),
                facts: OfferFacts,
                /**
                 * Needed to share slots between tenants (decision 40). In Redis, the id is in the
                 * name of the job (`withTenantsInName`). Gateways of an older version omit it.
                 */
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
   * The most times that a worker tries a failing job. After the last failure or an `InvalidJob`,
   * the job is given up, and a reconciler finds the work in Postgres.
   */
  readonly attemptsMax: number;
  /** If a worker has not renewed its lock of a job for this long, the job counts as stalled. */
  readonly lockDurationMs: number;
  readonly concurrency: number;
  /**
   * The most times that a stalled job goes back to the queue. At the next stall, the job is given
   * up, and a reconciler finds the work in Postgres.
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
    // deliveries can join it (`joinWaitingWakeUp`).
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
