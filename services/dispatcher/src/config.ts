import { dispatchConcurrencyDefault } from '@svc/domain';
import {
  bindConfig,
  commonConfig,
  ConfigError,
  noTrustedProxies,
  parseTrustedProxies,
  port,
  readTlsPair,
  type TrustedProxies,
  trustProxyDescription,
  trustProxyRefused,
} from '@svc/runtime';
import { Type, type Static } from 'typebox';

/** The dispatcher's configuration (CONTRACT 7 and 9). */
export const dispatcherConfig = Type.Object({
  ...commonConfig,
  ...bindConfig,
  NODE_LINK_PORT: port(8081, 'the port that nodes connect to; 0 chooses a free port'),
  NODE_LINK_TLS_CERT_FILE: Type.Optional(
    Type.String({ description: 'a PEM file with the certificate chain of the node link' }),
  ),
  NODE_LINK_TLS_KEY_FILE: Type.Optional(
    Type.String({ description: 'a PEM file with the private key of the node link' }),
  ),
  TRUST_PROXY: Type.Optional(
    Type.String({
      description: trustProxyDescription,
    }),
  ),
  DISPATCH_CONCURRENCY: Type.Integer({
    minimum: 1,
    maximum: 1_024,
    default: dispatchConcurrencyDefault,
    description: 'the most jobs of the dispatch queue that the process runs at once, 1 to 1024',
  }),
  USAGE_CAP_FACTOR: Type.String({
    pattern: '^(0|[1-9][0-9]{0,8})([.][0-9]{1,6})?$',
    default: '1',
    description: 'the factor that multiplies the caps of usage; it must be 1 in production',
  }),
  SVC_SIMULATED_NODES: Type.Integer({
    minimum: 0,
    maximum: 1_000,
    default: 0,
    description: 'how many simulated nodes `npm start` runs; it must be 0 in production',
  }),
});
export type DispatcherConfig = Static<typeof dispatcherConfig>;

/**
 * Checks the rules that the schema cannot express (CONTRACT 7). Throws `ConfigError` if a rule is
 * broken.
 */
export function assertConsistent(config: DispatcherConfig): void {
  const files = [config.NODE_LINK_TLS_CERT_FILE, config.NODE_LINK_TLS_KEY_FILE];
  const given = files.filter((file) => file !== undefined).length;
  if (given === 1) {
    throw new ConfigError(
      'Set both NODE_LINK_TLS_CERT_FILE and NODE_LINK_TLS_KEY_FILE, or neither.',
    );
  }
  proxiesOf(config);
  if (config.SVC_ENVIRONMENT !== 'production') return;
  if (given === 0 && config.TRUST_PROXY === undefined) {
    throw new ConfigError(
      'In production the node link must use TLS. Set NODE_LINK_TLS_CERT_FILE and NODE_LINK_TLS_KEY_FILE, or set TRUST_PROXY to the address of the proxy that terminates TLS.',
    );
  }
  if (Number(config.USAGE_CAP_FACTOR) !== 1) {
    throw new ConfigError(
      'In production the usage caps must not be changed. Set USAGE_CAP_FACTOR to 1.',
    );
  }
  if (config.SVC_SIMULATED_NODES > 0) {
    throw new ConfigError(
      'Simulated nodes are allowed only in the sandbox. Set SVC_SIMULATED_NODES to 0.',
    );
  }
}

/** The proxies in `TRUST_PROXY`; none if it is not set. Throws `ConfigError` if it is invalid. */
export function proxiesOf({ TRUST_PROXY: text }: DispatcherConfig): TrustedProxies {
  if (text === undefined) return noTrustedProxies;
  const proxies = parseTrustedProxies(text);
  if (proxies !== undefined) return proxies;
  throw new ConfigError(trustProxyRefused);
}

/** Null for plain `ws`. Throws `ConfigError` if a file cannot be used. */
export function tlsOf(config: DispatcherConfig) {
  return readTlsPair(
    ['NODE_LINK_TLS_CERT_FILE', config.NODE_LINK_TLS_CERT_FILE],
    ['NODE_LINK_TLS_KEY_FILE', config.NODE_LINK_TLS_KEY_FILE],
  );
}
