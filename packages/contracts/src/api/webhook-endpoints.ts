import {
  endpointDescriptionLengthMax,
  endpointKinds,
  eventTypes,
  pageLimitDefault,
  pageLimitMax,
  pollWaitSecondsMax,
  rotationOverlapHoursDefault,
  rotationOverlapHoursMax,
  webhookUrlLengthMax,
} from '@svc/domain';
import { Type, type Static } from 'typebox';
import { Nullable, Time, WireId } from './common.ts';

/** The schemas of `/v1/webhook-endpoints` (CONTRACT 12). */

const EventType = Type.Enum(eventTypes);

const endpoint = {
  id: WireId('whe'),
  kind: Type.Enum(endpointKinds),
  url: Nullable(Type.String()),
  /**
   * The types of events that the endpoint gets. Null: all types, also those that are added later. A
   * requested `webhook.test` is sent even if it is not listed.
   */
  events: Nullable(Type.Array(EventType)),
  description: Nullable(Type.String()),
  disabled: Nullable(Type.Object({ at: Time, reason: Type.String() })),
  createdAt: Time,
};

export const WebhookEndpoint = Type.Object(endpoint);
export type WebhookEndpoint = Static<typeof WebhookEndpoint>;

export const WebhookEndpointCreated = Type.Object({ ...endpoint, secret: Type.String() });
export type WebhookEndpointCreated = Static<typeof WebhookEndpointCreated>;

/** All endpoints of the tenant. There are at most five, so there are no pages. */
export const WebhookEndpointList = Type.Object({ data: Type.Array(WebhookEndpoint) });
export type WebhookEndpointList = Static<typeof WebhookEndpointList>;

/** `checkWebhookUrl` decides which URLs are allowed. */
const EndpointUrl = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  maxLength: webhookUrlLengthMax,
});
const wanted = {
  events: Type.Optional(
    Nullable(
      Type.Array(EventType, { minItems: 1, maxItems: eventTypes.length, uniqueItems: true }),
    ),
  ),
  description: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      maxLength: endpointDescriptionLengthMax,
    }),
  ),
};

/**
 * The body of `POST /v1/webhook-endpoints`. If `url` is null, the tenant reads the events itself
 * with `GET …/:id/events`.
 */
export const WebhookEndpointRequest = Type.Object(
  { url: EndpointUrl, ...wanted },
  { additionalProperties: false },
);
export type WebhookEndpointRequest = Static<typeof WebhookEndpointRequest>;

/** The body of `PATCH /v1/webhook-endpoints/:id`. Omitted members stay unchanged. */
export const WebhookEndpointChange = Type.Object(
  { url: Type.Optional(EndpointUrl), ...wanted },
  { additionalProperties: false },
);
export type WebhookEndpointChange = Static<typeof WebhookEndpointChange>;

/** The body of `POST …/:id/rotate-secret`. It may be omitted. */
export const SecretRotation = Type.Object(
  {
    overlapHours: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: rotationOverlapHoursMax,
        default: rotationOverlapHoursDefault,
      }),
    ),
  },
  { additionalProperties: false },
);
export type SecretRotation = Static<typeof SecretRotation>;

export const RotatedSecret = Type.Object({ secret: Type.String() });
export type RotatedSecret = Static<typeof RotatedSecret>;

const cursorLengthMax = 128;

export const PolledEventsQuery = Type.Object(
  {
    after: Type.Optional(Type.String({ minLength: 1, maxLength: cursorLengthMax })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: pageLimitMax, default: pageLimitDefault }),
    ),
    waitSeconds: Type.Optional(
      Type.Integer({ minimum: 0, maximum: pollWaitSecondsMax, default: 0 }),
    ),
  },
  { additionalProperties: false },
);
export type PolledEventsQuery = Static<typeof PolledEventsQuery>;

/** An event as a tenant polls it: the members of a webhook body, and also `deliveryId`. */
export const PolledEvent = Type.Object({
  id: WireId('evt'),
  type: EventType,
  timestamp: Time,
  data: Type.Object({}, { additionalProperties: true }),
  deliveryId: WireId('dlv'),
});
export type PolledEvent = Static<typeof PolledEvent>;

/**
 * A page of events, oldest first. `nextCursor` is never null, because the tenant passes it as
 * `after` to read later events.
 */
export const PolledEvents = Type.Object({
  data: Type.Array(PolledEvent),
  nextCursor: Type.String(),
});
export type PolledEvents = Static<typeof PolledEvents>;
