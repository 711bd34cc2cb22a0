import { Type, type Static } from 'typebox';
import { OfferFacts } from './offer-facts.ts';

/**
 * The one catalogue of queues: what crosses from one service to another through BullMQ
 * (docs/ARCHITECTURE.md, Queues). Payloads hold ids and what can never change, never copies of state or
 * personal data: a job is an alarm clock, Postgres is the truth.
 */

/** How many ids one job may carry (same queue, same tier). */
export const jobIdsMax = 64;

const Uuid = Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' });
const Uuids = Type.Array(Uuid, { minItems: 1, maxItems: jobIdsMax });

/**
 * `replyTo` is the channel of the gateway that waits, or null where nobody does. `held`: what was held
 * at `sentAtMs` by the gateway's clock, in the order of the ids, so that it can be offered before
 * Postgres is asked for anything but the commit (decision 17).
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
            // `heldAtMs`: by the database's clock.
            Type.Object(
              { heldAtMs: Type.Integer(), facts: OfferFacts },
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

/** Tenants with deliveries that are due: which ones, and how many, only Postgres knows. */
export const WebhookJob = Type.Object({ tenantIds: Uuids }, { additionalProperties: false });
export type WebhookJob = Static<typeof WebhookJob>;

interface QueueDefinition {
  readonly name: string;
  readonly schema: typeof DispatchJob | typeof SettlementJob | typeof WebhookJob;
  /** How often BullMQ runs a job; the reconciler, not BullMQ, is what retries. */
  readonly attemptsMax: number;
  /** How long a worker owns a job before it counts as stalled. */
  readonly lockDurationMs: number;
  /** How many jobs one worker process has in hand at once. */
  readonly concurrency: number;
  /** How often a stalled job is handed to another worker; 0: never, the reconciler decides. */
  readonly stalledCountMax: number;
}

export const queues = {
  dispatch: {
    name: 'dispatch.v1',
    schema: DispatchJob,
    attemptsMax: 1,
    lockDurationMs: 30_000,
    concurrency: 128,
    stalledCountMax: 0,
  },
  settlement: {
    name: 'settlement.v1',
    schema: SettlementJob,
    attemptsMax: 3,
    lockDurationMs: 30_000,
    concurrency: 16,
    stalledCountMax: 1,
  },
  webhook: {
    name: 'webhook.v1',
    schema: WebhookJob,
    attemptsMax: 1,
    lockDurationMs: 60_000,
    // Tenants that are told of while one job is in hand join the next.
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
