import { deliveryStatuses, eventTypes } from '@svc/domain';
import { Type, type Static } from 'typebox';
import { Nullable, pageParameters, PageOf, Time, WireId } from './common.ts';

/** The schemas of `/v1/webhooks/…` (CONTRACT 5). */

export const DeliveryStatus = Type.Enum(deliveryStatuses);

/**
 * One attempt of the current round. The nullable members are null until the result is recorded, and
 * they stay null if the process crashes first.
 */
export const DeliveryAttempt = Type.Object({
  number: Type.Integer(),
  at: Time,
  statusCode: Nullable(Type.Integer()),
  durationMs: Nullable(Type.Integer()),
  error: Nullable(Type.String()),
  /** The first 1 KiB of the endpoint's response. */
  response: Nullable(Type.String()),
});
export type DeliveryAttempt = Static<typeof DeliveryAttempt>;

export const Delivery = Type.Object({
  id: WireId('dlv'),
  eventId: WireId('evt'),
  /**
   * The webhook endpoint of the delivery. Null if the delivery goes to a URL of the tenant's
   * settings, present or past.
   */
  endpointId: Nullable(WireId('whe')),
  type: Type.Enum(eventTypes),
  status: DeliveryStatus,
  attempts: Type.Array(DeliveryAttempt),
  nextAttemptAt: Nullable(Time),
  createdAt: Time,
});
export type Delivery = Static<typeof Delivery>;

export const DeliveriesQuery = Type.Object(
  { status: Type.Optional(DeliveryStatus), ...pageParameters },
  { additionalProperties: false },
);
export type DeliveriesQuery = Static<typeof DeliveriesQuery>;

export const DeliveryPage = PageOf(Delivery);
export type DeliveryPage = Static<typeof DeliveryPage>;

export const DeliveryQueued = Type.Object({ deliveryId: WireId('dlv') });
export type DeliveryQueued = Static<typeof DeliveryQueued>;
