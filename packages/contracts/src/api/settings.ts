import { webhookUrlLengthMax } from '@svc/domain';
import { Type, type Static } from 'typebox';
import { Credits, creditsMax, Nullable, Time, WireId } from './common.ts';

/** `GET /v1/settings` (CONTRACT 5): the first two can be changed. */
export const Settings = Type.Object({
  webhookUrl: Nullable(Type.String()),
  lowBalanceThreshold: Credits,
  /** Since when and why nothing is sent to the URL, although one is set. */
  webhookDisabled: Nullable(Type.Object({ at: Time, reason: Type.String() })),
  allowedJobTypes: Type.Array(Type.String()),
  tenantId: WireId('tnt'),
  environment: Type.Enum(['sandbox', 'production']),
});
export type Settings = Static<typeof Settings>;

/**
 * `PATCH /v1/settings`: what is left out stays as it is, `null` clears the URL. Which URLs are
 * taken is `checkWebhookUrl`'s rule; the threshold has at most six decimals.
 */
export const SettingsChange = Type.Object(
  {
    webhookUrl: Type.Optional(
      Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: webhookUrlLengthMax }),
    ),
    lowBalanceThreshold: Type.Optional(Type.Number({ minimum: 0, maximum: creditsMax })),
  },
  { additionalProperties: false },
);
export type SettingsChange = Static<typeof SettingsChange>;
