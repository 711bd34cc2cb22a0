import {
  parseBackoffSeconds,
  webhookBackoffSecondsDefault,
  webhookEndpointRequestsDefault,
} from '@svc/domain';
import { commonConfig, ConfigError, flag } from '@svc/runtime';
import { Type, type Static } from 'typebox';

const backoffDescription = 'the seconds between attempts, separated by commas, seven at most';

/** The webhook deliverer's configuration (CONTRACT 6 and 9). */
export const webhooksConfig = Type.Object({
  ...commonConfig,
  WEBHOOK_BACKOFF_SECONDS: Type.String({
    default: webhookBackoffSecondsDefault,
    description: backoffDescription,
  }),
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: flag(
    '0',
    '1 to deliver to private addresses and over http, else 0',
  ),
  WEBHOOK_ENDPOINT_REQUESTS: Type.Integer({
    minimum: 1,
    maximum: 256,
    default: webhookEndpointRequestsDefault,
    description: 'requests at a time to one endpoint, of each deliverer',
  }),
});
export type WebhooksConfig = Static<typeof webhooksConfig>;

/** The schedule in seconds. Throws `ConfigError`. */
export function backoffSecondsOf(config: WebhooksConfig): readonly number[] {
  const parsed = parseBackoffSeconds(config.WEBHOOK_BACKOFF_SECONDS);
  if (parsed !== undefined) return parsed;
  throw new ConfigError(`WEBHOOK_BACKOFF_SECONDS is not valid: ${backoffDescription}`);
}
