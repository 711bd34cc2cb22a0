import { creditsToNumber } from './credits.ts';
import type { Tier } from './rate-card.ts';

/** The events that a tenant can receive (CONTRACT 6). */
export const eventTypes = [
  'submission.completed',
  'submission.failed',
  'submission.cancelled',
  'submission.late_outcome',
  'credits.low_balance',
  'credits.purchased',
  'settings.changed',
  'webhook.test',
] as const;
export type EventType = (typeof eventTypes)[number];

/** The statuses of a delivery, as tenants see them (CONTRACT 5). */
export const deliveryStatuses = ['pending', 'delivered', 'exhausted', 'dropped'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** `push`: events are posted to the endpoint's URL. `poll`: the tenant reads them (CONTRACT 12). */
export const endpointKinds = ['push', 'poll'] as const;
export type EndpointKind = (typeof endpointKinds)[number];

export interface FailureData {
  readonly code: string;
  readonly message: string;
  readonly retriable: boolean;
  readonly outcomeUnknown: boolean;
}

interface EndingFigures {
  /** In wire form (`sub_…`). */
  readonly submissionId: string;
  readonly jobType: string;
  readonly tier: Tier;
  readonly actualMicros: bigint;
  readonly refundedMicros: bigint;
}

export type EndingEvent =
  | (EndingFigures & { readonly kind: 'completed' })
  | (EndingFigures & { readonly kind: 'failed'; readonly failure: FailureData })
  | (EndingFigures & { readonly kind: 'cancelled'; readonly by: 'tenant' | 'operator' });

export interface SubmissionEventData {
  readonly submissionId: string;
  readonly jobType: string;
  readonly tier: Tier;
  readonly status: 'submitted' | 'failed' | 'cancelled';
  readonly actualCredits: number;
  readonly refundedCredits: number;
  readonly failure?: FailureData;
  readonly by?: 'tenant' | 'operator';
}

const statusOf = { completed: 'submitted', failed: 'failed', cancelled: 'cancelled' } as const;

export function submissionEventData(ending: EndingEvent): SubmissionEventData {
  const data = {
    submissionId: ending.submissionId,
    jobType: ending.jobType,
    tier: ending.tier,
    status: statusOf[ending.kind],
    actualCredits: creditsToNumber(ending.actualMicros),
    refundedCredits: creditsToNumber(ending.refundedMicros),
  };
  if (ending.kind === 'failed') return { ...data, failure: ending.failure };
  if (ending.kind === 'cancelled') return { ...data, by: ending.by };
  return data;
}

export interface LowBalanceEventData {
  readonly balance: number;
  readonly available: number;
  readonly held: number;
  readonly threshold: number;
}

/**
 * `data` of `credits.low_balance` (CONTRACT 4). A charge or a change of the threshold causes the
 * event. `figures` are the values after that charge or change.
 */
export function lowBalanceEventData(figures: {
  readonly balanceMicros: bigint;
  readonly heldMicros: bigint;
  readonly thresholdMicros: bigint;
}): LowBalanceEventData {
  return {
    balance: creditsToNumber(figures.balanceMicros),
    available: creditsToNumber(figures.balanceMicros - figures.heldMicros),
    held: creditsToNumber(figures.heldMicros),
    threshold: creditsToNumber(figures.thresholdMicros),
  };
}

export interface LateOutcomeEventData {
  readonly submissionId: string;
  readonly status: 'submitted' | 'failed';
  readonly at: string;
}

export function lateOutcomeEventData(late: {
  /** In wire form (`sub_…`). */
  readonly submissionId: string;
  readonly status: 'submitted' | 'failed';
  readonly at: Date;
}): LateOutcomeEventData {
  return { submissionId: late.submissionId, status: late.status, at: late.at.toISOString() };
}

/**
 * Who changed a setting (CONTRACT 12), with ids in wire form. `keyId` is null if no key is
 * recorded, and `operator` is `local` if no operator's key was used.
 */
export type SettingsChangedBy = { readonly keyId: string | null } | { readonly operator: string };

/** `data` of `settings.changed` (CONTRACT 12). */
export function settingsChangedEventData(change: {
  /** The name of the change, such as `endpoint.created`. */
  readonly what: string;
  readonly by: SettingsChangedBy;
  readonly at: Date;
}): { readonly what: string; readonly by: SettingsChangedBy; readonly at: string } {
  return { what: change.what, by: change.by, at: change.at.toISOString() };
}

/**
 * The body of a webhook. It is stored, and every attempt sends and signs the stored bytes. `id` is
 * the event's id in wire form (`evt_…`).
 */
export function eventBody(event: {
  readonly id: string;
  readonly type: EventType;
  readonly at: Date;
  readonly data: object;
}): string {
  return JSON.stringify({
    id: event.id,
    type: event.type,
    timestamp: event.at.toISOString(),
    data: event.data,
  });
}

/**
 * Replaces the failure's message in the body of a `submission.failed` event with an empty text.
 * Returns the body of any other event unchanged.
 */
export function withoutFailureMessage(body: string): string {
  const event: { data: { failure?: FailureData } } = JSON.parse(body);
  const { failure } = event.data;
  if (failure === undefined) return body;
  return JSON.stringify({
    ...event,
    data: { ...event.data, failure: { ...failure, message: '' } },
  });
}
