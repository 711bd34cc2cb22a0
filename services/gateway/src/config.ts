import {
  bodyBytesMax,
  signupInFlightMaxDefault,
  signupsPerHourDefault,
  signupWebhookAttemptsPerHourDefault,
  unauthenticatedBodyBytesDefault,
  unauthenticatedBodyShares,
} from '@svc/domain';
import {
  bindConfig,
  commonConfig,
  ConfigError,
  flag,
  noTrustedProxies,
  parseTrustedProxies,
  port,
  readTlsPair,
  solanaConfig,
  type TrustedProxies,
  trustProxyDescription,
  trustProxyRefused,
} from '@svc/runtime';
import { Type, type Static } from 'typebox';

/** The gateway's configuration (CONTRACT 9). */
export const gatewayConfig = Type.Object({
  ...commonConfig,
  ...bindConfig,
  ...solanaConfig,
  GATEWAY_PORT: port(8080, 'the port of the tenant API; 0 chooses a free port'),
  TLS_CERT_FILE: Type.Optional(
    Type.String({ description: 'a PEM file with the certificate chain of the tenant API' }),
  ),
  TLS_KEY_FILE: Type.Optional(
    Type.String({ description: 'a PEM file with the private key of the tenant API' }),
  ),
  TRUST_PROXY: Type.Optional(
    Type.String({
      description: trustProxyDescription,
    }),
  ),
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: flag(
    '0',
    '1 to accept webhook URLs with `http` or with a private host, else 0',
  ),
  UNAUTHENTICATED_BODY_BYTES: Type.Integer({
    minimum: unauthenticatedBodyShares * bodyBytesMax,
    maximum: 1_073_741_824,
    default: unauthenticatedBodyBytesDefault,
    description:
      'the most bytes that the bodies of requests take until their sender is authenticated; one address may take an eighth; 2097152 to 1073741824',
  }),
  REQUEST_LINES_PER_SECOND: Type.Integer({
    minimum: 1,
    maximum: 100_000,
    default: 100,
    description: 'how many requests per second are logged before sampling starts, 1 to 100000',
  }),
  SIGNUP_PER_HOUR: Type.Integer({
    minimum: 1,
    maximum: 100_000,
    default: signupsPerHourDefault,
    description:
      'the size and the hourly refill of the token bucket for sign-ups from one IPv4 address or IPv6 /64 network (sandbox), 1 to 100000',
  }),
  SIGNUP_IN_FLIGHT_MAX: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: signupInFlightMaxDefault,
    description: 'the most submissions in flight for a tenant that signed up itself (sandbox)',
  }),
  SIGNUP_WEBHOOK_ATTEMPTS_PER_HOUR: Type.Integer({
    minimum: 1,
    maximum: 10_000_000,
    default: signupWebhookAttemptsPerHourDefault,
    description:
      'the most webhook attempts in an hour for a tenant that signed up itself (sandbox)',
  }),
});
export type GatewayConfig = Static<typeof gatewayConfig>;

/** Checks the rules that the schema cannot express. Throws `ConfigError` if a rule is broken. */
export function assertConsistent(config: GatewayConfig): void {
  if ((config.TLS_CERT_FILE === undefined) !== (config.TLS_KEY_FILE === undefined)) {
    throw new ConfigError('Set both TLS_CERT_FILE and TLS_KEY_FILE, or neither.');
  }
  if (
    config.SVC_ENVIRONMENT === 'production' &&
    config.TLS_CERT_FILE === undefined &&
    config.TRUST_PROXY === undefined
  ) {
    throw new ConfigError(
      'In production the tenant API needs TLS. Set TLS_CERT_FILE and TLS_KEY_FILE, or set TRUST_PROXY to the address of the proxy that terminates TLS.',
    );
  }
  if (config.TRUST_PROXY !== undefined && parseTrustedProxies(config.TRUST_PROXY) === undefined) {
    throw new ConfigError(trustProxyRefused);
  }
}

/** The proxies of `TRUST_PROXY`, which `assertConsistent` has checked. */
export function proxiesOf({ TRUST_PROXY: text }: GatewayConfig): TrustedProxies {
  return (text === undefined ? undefined : parseTrustedProxies(text)) ?? noTrustedProxies;
}

/** True in production behind a proxy. Requests whose client did not use TLS are then refused. */
export function isTlsOnly(config: GatewayConfig): boolean {
  return config.SVC_ENVIRONMENT === 'production' && config.TRUST_PROXY !== undefined;
}

/** Null for plain HTTP. Throws `ConfigError` if a file cannot be used. */
export function tlsOf({ TLS_CERT_FILE, TLS_KEY_FILE }: GatewayConfig) {
  return readTlsPair(['TLS_CERT_FILE', TLS_CERT_FILE], ['TLS_KEY_FILE', TLS_KEY_FILE]);
}
