import {
  parseBackoffSeconds,
  webhookBackoffSecondsDefault,
  webhookEndpointRequestsDefault,
  webhookRequestsDefault,
} from '@svc/domain';
import { commonConfig, ConfigError, flag, outboundConfig } from '@svc/runtime';
import { Type, type Static } from 'typebox';

const backoffDescription = 'one to seven pauses between attempts, in seconds, separated by commas';

/** The webhook deliverer's configuration (CONTRACT 6 and 9). */
export const webhooksConfig = Type.Object({
  ...commonConfig,
  ...outboundConfig,
  WEBHOOK_BACKOFF_SECONDS: Type.String({
    default: webhookBackoffSecondsDefault,
    description: backoffDescription,
  }),
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: flag(
    '0',
    '1 to allow deliveries to private addresses and over http, else 0',
  ),
  WEBHOOK_ENDPOINT_REQUESTS: Type.Integer({
    minimum: 1,
    maximum: 256,
    default: webhookEndpointRequestsDefault,
    description: 'the most requests that one process sends to one endpoint at once, 1 to 256',
  }),
  WEBHOOK_REQUESTS_MAX: Type.Integer({
    minimum: 16,
    maximum: 4_096,
    default: webhookRequestsDefault,
    description: 'the most requests that one process sends to all endpoints at once, 16 to 4096',
  }),
});
export type WebhooksConfig = Static<typeof webhooksConfig>;

/**
 * The limits of concurrent requests. Throws `ConfigError` if the limit for one endpoint is higher
 * than the limit for all endpoints.
 */
export function requestLimitsOf({
  WEBHOOK_ENDPOINT_REQUESTS: endpointRequestsMax,
  WEBHOOK_REQUESTS_MAX: requestsMax,
}: WebhooksConfig): { readonly endpointRequestsMax: number; readonly requestsMax: number } {
  if (endpointRequestsMax <= requestsMax) return { endpointRequestsMax, requestsMax };
  throw new ConfigError(
    `WEBHOOK_ENDPOINT_REQUESTS is ${endpointRequestsMax}, but WEBHOOK_REQUESTS_MAX is ${requestsMax}. Lower the first, or raise the second.`,
  );
}

/**
 * The intervals between attempts, in seconds. Throws `ConfigError` if `WEBHOOK_BACKOFF_SECONDS` is
 * not valid.
 */
export function backoffSecondsOf(config: WebhooksConfig): readonly number[] {
  const parsed = parseBackoffSeconds(config.WEBHOOK_BACKOFF_SECONDS);
  if (parsed !== undefined) return parsed;
  throw new ConfigError(`WEBHOOK_BACKOFF_SECONDS must be ${backoffDescription}`);
}
