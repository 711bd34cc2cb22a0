import { readFileSync } from 'node:fs';
import {
  signupInFlightMaxDefault,
  signupsPerHourDefault,
  signupWebhookAttemptsPerHourDefault,
} from '@svc/domain';
import {
  bindConfig,
  commonConfig,
  ConfigError,
  flag,
  parseTrustedProxies,
  port,
  type TrustedProxies,
} from '@svc/runtime';
import { Type, type Static } from 'typebox';

/** The gateway's configuration (CONTRACT 9). */
export const gatewayConfig = Type.Object({
  ...commonConfig,
  ...bindConfig,
  GATEWAY_PORT: port(8080, 'the port of the tenant API, 0 for any'),
  TLS_CERT_FILE: Type.Optional(
    Type.String({ description: 'a PEM file with the certificate chain of the tenant API' }),
  ),
  TLS_KEY_FILE: Type.Optional(
    Type.String({ description: 'a PEM file with the private key of the tenant API' }),
  ),
  TRUST_PROXY: Type.Optional(
    Type.String({ description: 'the proxies whose forwarded address and TLS are believed' }),
  ),
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: flag(
    '0',
    '1 to take webhook URLs that are private or plain http, else 0',
  ),
  SIGNUP_PER_HOUR: Type.Integer({
    minimum: 1,
    maximum: 100_000,
    default: signupsPerHourDefault,
    description: 'how many tenants may sign up in an hour from one address (sandbox)',
  }),
  SIGNUP_IN_FLIGHT_MAX: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: signupInFlightMaxDefault,
    description: 'how many submissions a tenant that signed up may have in flight (sandbox)',
  }),
  SIGNUP_WEBHOOK_ATTEMPTS_PER_HOUR: Type.Integer({
    minimum: 1,
    maximum: 10_000_000,
    default: signupWebhookAttemptsPerHourDefault,
    description: 'webhook attempts in an hour that a tenant may cause who signed up (sandbox)',
  }),
  SOLANA_RAIL_ENABLED: Type.Literal('false', {
    default: 'false',
    description: 'false: the Solana rail is not built yet (CONTRACT 8)',
  }),
});
export type GatewayConfig = Static<typeof gatewayConfig>;

/**
 * What no single variable can tell: TLS needs both its files, production is not without it, and
 * proxies are addresses, blocks of them, or names of such blocks; believing everybody is not among
 * the choices. Throws `ConfigError`.
 */
export function assertConsistent(config: GatewayConfig): void {
  if ((config.TLS_CERT_FILE === undefined) !== (config.TLS_KEY_FILE === undefined)) {
    throw new ConfigError('Set both TLS_CERT_FILE and TLS_KEY_FILE, or none.');
  }
  if (
    config.SVC_ENVIRONMENT === 'production' &&
    config.TLS_CERT_FILE === undefined &&
    config.TRUST_PROXY === undefined
  ) {
    throw new ConfigError(
      'In production the tenant API is TLS: set TLS_CERT_FILE and TLS_KEY_FILE, or declare in TRUST_PROXY the proxy that ends it.',
    );
  }
  if (config.TRUST_PROXY !== undefined && parseTrustedProxies(config.TRUST_PROXY) === undefined) {
    throw new ConfigError(
      'TRUST_PROXY must be addresses or blocks, separated by commas: 10.0.0.0/8, loopback, linklocal, uniquelocal.',
    );
  }
}

/** Behind a proxy in production: whose word says that a request came over TLS. Else undefined. */
export function tlsOnlyOf(config: GatewayConfig): TrustedProxies | undefined {
  if (config.SVC_ENVIRONMENT !== 'production' || config.TRUST_PROXY === undefined) return undefined;
  return parseTrustedProxies(config.TRUST_PROXY);
}

/** Certificate and key, or null for plain HTTP. Throws `ConfigError`. */
export function tlsOf(config: GatewayConfig): { cert: string; key: string } | null {
  const { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile } = config;
  if (certFile === undefined || keyFile === undefined) return null;
  try {
    return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
  } catch (error) {
    throw new ConfigError('The files of TLS_CERT_FILE and TLS_KEY_FILE cannot be read.', {
      cause: error,
    });
  }
}
