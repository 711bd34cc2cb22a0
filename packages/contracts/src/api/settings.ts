import { webhookUrlLengthMax } from '@svc/domain';
import { Type, type Static } from 'typebox';
import { Credits, creditsMax, Nullable, Time, WireId } from './common.ts';

/** `GET /v1/settings` (CONTRACT 5). `webhookUrl` and `lowBalanceThreshold` can be changed. */
export const Settings = Type.Object({
  webhookUrl: Nullable(Type.String()),
  lowBalanceThreshold: Credits,
  /** When and why deliveries to the URL were disabled, although a URL is set. Else null. */
  webhookDisabled: Nullable(Type.Object({ at: Time, reason: Type.String() })),
  allowedJobTypes: Type.Array(Type.String()),
  tenantId: WireId('tnt'),
  environment: Type.Enum(['sandbox', 'production']),
});
export type Settings = Static<typeof Settings>;

/**
 * The body of `PATCH /v1/settings`. Omitted members stay unchanged; `null` clears the URL.
 * `checkWebhookUrl` decides which URLs are allowed. The threshold has at most six decimals.
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
