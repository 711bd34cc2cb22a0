import { webhookUrlLengthMax } from '@svc/domain';
import { Type, type Static } from 'typebox';
import { Credits, creditsMax, Nullable, Time, WireId } from './common.ts';

/**
 * The answer of `GET` and `PATCH /v1/settings` (CONTRACT 5). The tenant can change `webhookUrl` and
 * `lowBalanceThreshold`.
 */
export const Settings = Type.Object({
  webhookUrl: Nullable(Type.String()),
  lowBalanceThreshold: Credits,
  /** When and why the service disabled deliveries to the URL. Null while they are not disabled. */
  webhookDisabled: Nullable(Type.Object({ at: Time, reason: Type.String() })),
  allowedJobTypes: Type.Array(Type.String()),
  tenantId: WireId('tnt'),
  environment: Type.Enum(['sandbox', 'production']),
});
export type Settings = Static<typeof Settings>;

/** The body of `PATCH /v1/settings`. Omitted members stay unchanged. */
export const SettingsChange = Type.Object(
  {
    /** Null clears the URL. `checkWebhookUrl` decides which URLs are allowed. */
    webhookUrl: Type.Optional(
      Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: webhookUrlLengthMax }),
    ),
    /** At most six decimals. */
    lowBalanceThreshold: Type.Optional(Type.Number({ minimum: 0, maximum: creditsMax })),
  },
  { additionalProperties: false },
);
export type SettingsChange = Static<typeof SettingsChange>;
