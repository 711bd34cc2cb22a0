import { readFileSync } from 'node:fs';
import {
  addressConnectionsMaxDefault,
  connectionsMaxDefault,
  databaseAnswerTimeoutMsDefault,
  databaseBatchMaxDefault,
  databaseConnectTimeoutMsDefault,
} from '@svc/domain';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { Type, type Static, type TObject } from 'typebox';
import type { ConnectionLimits } from './connection-limit.ts';
import { isReadableUrl } from './readable-url.ts';
import { tracingConfig } from './tracing-config.ts';

/**
 * The configuration is wrong. The message names the wrong variables and what to set. It repeats no
 * value that may be a secret.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const masterKeyPattern = '[A-Za-z0-9._-]{1,32}:[A-Za-z0-9+/]{43}=';

export function flag(byDefault: '0' | '1', description: string) {
  return Type.Union([Type.Literal('0'), Type.Literal('1')], { default: byDefault, description });
}

/** The schema of a TCP port to listen on. 0 chooses a free port. */
export function port(byDefault: number, description: string) {
  return Type.Integer({ minimum: 0, maximum: 65_535, default: byDefault, description });
}

/** The variables of every service (CONTRACT 9). */
export const commonConfig = {
  SVC_ENVIRONMENT: Type.Union([Type.Literal('sandbox'), Type.Literal('production')], {
    description: 'sandbox or production',
  }),
  DATABASE_URL: Type.String({
    pattern: '^postgres(ql)?://',
    description:
      'the URL of Postgres: postgresql://user@host:port/database or postgresql://user@host:port,host:port/database',
  }),
  DATABASE_ALLOW_ASYNC_STANDBY: flag(
    '0',
    '1 to start in production even if commits do not wait for a standby, else 0',
  ),
  DATABASE_POOL_MAX: Type.Integer({
    minimum: 2,
    maximum: 500,
    default: 10,
    description: 'the most connections of the process to Postgres, 2 to 500',
  }),
  DATABASE_BATCH_MAX: Type.Integer({
    minimum: 16,
    maximum: 1_000,
    default: databaseBatchMaxDefault,
    description: 'the most database calls that are combined into one SQL statement, 16 to 1000',
  }),
  DATABASE_CONNECT_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    maximum: 60_000,
    default: databaseConnectTimeoutMsDefault,
    description: 'milliseconds that a call waits for a connection to Postgres, 100 to 60000',
  }),
  DATABASE_ANSWER_TIMEOUT_MS: Type.Integer({
    minimum: 1_000,
    maximum: 60_000,
    default: databaseAnswerTimeoutMsDefault,
    description: 'milliseconds that a call waits for the answer of Postgres, 1000 to 60000',
  }),
  REDIS_URL: Type.String({
    pattern: '^rediss?(\\+(sentinel|cluster))?://',
    description:
      'the URL of Redis: `redis://host:port`, `redis+sentinel://host:port,host:port/master` or `redis+cluster://host:port,host:port`; with TLS, `rediss` instead of `redis`',
  }),
  SVC_MASTER_KEY: Type.String({
    pattern: `^${masterKeyPattern}(,${masterKeyPattern})*$`,
    description:
      'keys of the form <key id>:<base64 of 32 bytes>, separated by commas; the first one seals new data',
  }),
  SVC_MASTER_KEY_FILE: Type.Optional(
    Type.String({ description: 'the path of a file with the keys, instead of SVC_MASTER_KEY' }),
  ),
  REDIS_PREFIX: Type.String({
    pattern: '^[a-z0-9-]{1,32}$',
    default: 'svc',
    description: 'the prefix of the keys in Redis, 1 to 32 lowercase letters, digits and dashes',
  }),
  LOG_LEVEL: Type.Union(
    [
      Type.Literal('trace'),
      Type.Literal('debug'),
      Type.Literal('info'),
      Type.Literal('warn'),
      Type.Literal('error'),
      Type.Literal('fatal'),
      Type.Literal('silent'),
    ],
    {
      default: 'info',
      description:
        'the lowest level that is logged: trace, debug, info, warn, error, fatal or silent',
    },
  ),
  RECONCILE_INTERVAL_MS: Type.Integer({
    minimum: 50,
    maximum: 60_000,
    default: 1_000,
    description: 'milliseconds between two passes of a reconciler, 50 to 60000',
  }),
  ADMIN_HOST: Type.String({
    minLength: 1,
    default: '127.0.0.1',
    description: 'the address of /live, /ready and /metrics, which have no authentication',
  }),
  ADMIN_PORT: port(0, 'the port of /live, /ready and /metrics; 0 chooses a free port'),
  ...tracingConfig,
};

export type CommonConfig = Static<TObject<typeof commonConfig>>;

export const bindConfig = {
  BIND_HOST: Type.String({
    minLength: 1,
    default: '127.0.0.1',
    description: 'the address on which the service listens for tenants or nodes',
  }),
  CONNECTIONS_MAX: Type.Integer({
    minimum: 10,
    maximum: 1_000_000,
    default: connectionsMaxDefault,
    description: 'the most open connections of tenants or nodes to the process, 10 to 1000000',
  }),
  ADDRESS_CONNECTIONS_MAX: Type.Integer({
    minimum: 10,
    maximum: 1_000_000,
    default: addressConnectionsMaxDefault,
    description:
      'the most open connections from one IPv4 address or IPv6 /64 network that is not in TRUST_PROXY, 10 to 1000000',
  }),
};

/** Reads the limits of connections from `bindConfig`. */
export function connectionLimitsOf(config: {
  readonly CONNECTIONS_MAX: number;
  readonly ADDRESS_CONNECTIONS_MAX: number;
}): ConnectionLimits {
  return {
    connectionsMax: config.CONNECTIONS_MAX,
    addressConnectionsMax: config.ADDRESS_CONNECTIONS_MAX,
  };
}

// Ajv skips the check of the schema (70 ms of CPU) and the optimization of the generated code (40
// ms), because each schema validates only one configuration.
const ajv = new Ajv2020({
  meta: false,
  validateSchema: false,
  strict: true,
  allErrors: true,
  coerceTypes: true,
  useDefaults: true,
  code: { optimize: false },
});

function variableOf(error: ErrorObject): string {
  if (error.keyword === 'required') return String(error.params['missingProperty']);
  return error.instancePath.split('/')[1] ?? '';
}

/** The variables whose value is a URL that cannot be read. */
function unreadableUrls(present: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(present).flatMap(([name, value]) =>
    /_(URL|ENDPOINT)$/.test(name) && typeof value === 'string' && !isReadableUrl(value)
      ? [name]
      : [],
  );
}

function explain(
  schema: TObject,
  present: ReadonlySet<string>,
  {
    wrong,
    unreadable,
  }: { readonly wrong: readonly string[]; readonly unreadable: readonly string[] },
): string {
  const names = [...new Set([...wrong, ...unreadable])].filter((name) => name !== '').toSorted();
  const lines = names.map((name) => {
    const found: unknown = schema.properties[name];
    const description =
      typeof found === 'object' && found !== null && 'description' in found
        ? String(found.description)
        : 'see .env.example';
    if (!unreadable.includes(name))
      return `${name} is ${present.has(name) ? 'not valid' : 'not set'}: ${description}`;
    const fault =
      'is no URL that can be read (in its user name and password, percent-encode all but letters, digits and -._~)';
    return `${name} ${fault}: ${description}`;
  });
  return lines.length === 1
    ? `The configuration is wrong: ${lines[0]}.`
    : ['The configuration has missing or invalid variables:', ...lines].join('\n  ');
}

/**
 * For each `NAME` of `names`: if `NAME_FILE` is set, sets `NAME` to the content of that file.
 * Throws `ConfigError` if `NAME` is set too, or if the file cannot be read.
 */
function readFiles(names: readonly string[], present: Record<string, unknown>): void {
  for (const name of names) {
    const file = present[`${name}_FILE`];
    if (typeof file !== 'string' || !names.includes(`${name}_FILE`)) continue;
    if (name in present) throw new ConfigError(`Set ${name} or ${name}_FILE, not both.`);
    try {
      present[name] = readFileSync(file, 'utf8').trim();
    } catch (error) {
      throw new ConfigError(
        `${name}_FILE names ${file}, which cannot be read. Check its path and permissions.`,
        { cause: error },
      );
    }
  }
}

/**
 * Reads a configuration from `env` and from files (`readFiles`); an empty variable counts as not
 * set. Throws `ConfigError` if a variable is missing or wrong.
 */
export function loadConfig<T extends TObject>(schema: T, env: NodeJS.ProcessEnv): Static<T> {
  const names = Object.keys(schema.properties);
  const present: Record<string, unknown> = Object.fromEntries(
    names
      .map((name) => [name, env[name]])
      .filter(([, value]) => value !== undefined && value !== ''),
  );
  readFiles(names, present);
  const candidate: unknown = { ...present };
  const unreadable = unreadableUrls(present);
  const validate = ajv.compile<Static<T>>(schema);
  if (validate(candidate) && unreadable.length === 0) return candidate;
  const wrong = (validate.errors ?? []).map(variableOf);
  throw new ConfigError(explain(schema, new Set(Object.keys(present)), { wrong, unreadable }));
}
