/**
 * The names of members whose values must not reach a log: secrets and the personal data of
 * applicants.
 */
const namesToRedact = [
  'applicantProfile',
  'authorization',
  'body',
  'cookie',
  'databaseUrl',
  'database_url',
  'hmacSecret',
  'hmacSecrets',
  'jobContext',
  'keyring',
  'masterKey',
  'nodeSecret',
  'operatorSecret',
  'password',
  'payload',
  'payloadText',
  'redisUrl',
  'redis_url',
  'result',
  'secret',
  'secrets',
  'set-cookie',
  'signature',
  'svc_master_key',
  'svc_operator_secret',
  'webhook-signature',
  'webhookSecret',
  'x-svc-signature',
];
const redactedNames = new Set(namesToRedact.map((name) => name.toLowerCase()));

const depthMax = 6;
const membersMax = 200;
export const placeholder = '[redacted]';

/**
 * Paths for pino, because the fields of child loggers bypass `redactFields`. Pino redacts only
 * outermost members with exactly these names.
 */
export const redactedPaths = namesToRedact.map((name) => `["${name}"]`);

function redactMembers(value: object, depth: number): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value).slice(0, membersMax)) {
    copy[name] = redactedNames.has(name.toLowerCase()) ? placeholder : redactValue(member, depth);
  }
  return copy;
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return value;
  if (value instanceof Error) return describeError(value);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (depth >= depthMax) return '[deeper]';
  if (Array.isArray(value)) {
    return value.slice(0, membersMax).map((member) => redactValue(member, depth + 1));
  }
  return redactMembers(value, depth + 1);
}

/**
 * Redacts members in `namesToRedact` at any depth, and ignores the case of names. Cuts or converts
 * some other values (`redactValue`), but not an error in `fields.err`.
 */
export function redactFields(fields: Record<string, unknown>): Record<string, unknown> {
  const names = Object.keys(fields);
  const isSimple =
    names.length <= membersMax &&
    names.every((name) => isSimpleValue(fields[name]) && !redactedNames.has(name.toLowerCase()));
  if (isSimple) return fields;
  // An error in `err` stays, because the serializer of the logger describes it.
  const { err } = fields;
  return { ...redactMembers(fields, 0), ...(err instanceof Error && { err }) };
}

function isSimpleValue(value: unknown): boolean {
  return value === null || (typeof value !== 'object' && typeof value !== 'bigint');
}

interface LoggedError {
  type: string;
  message: string;
  code?: string;
  stack?: string;
  cause?: LoggedError;
  /** The first errors of an `AggregateError`. */
  errors?: LoggedError[];
}

const causesMax = 3;
const errorsMax = 3;

/**
 * The parts of an error that are logged. Other members are omitted, because libraries attach whole
 * requests with bodies and headers to their errors.
 */
export function describeError(error: unknown, causesLeft = causesMax): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const code: unknown = 'code' in error ? error.code : undefined;
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...(error.cause === undefined || causesLeft === 0
      ? {}
      : { cause: describeError(error.cause, causesLeft - 1) }),
    ...(error instanceof AggregateError && causesLeft > 0
      ? {
          errors: error.errors.slice(0, errorsMax).map((one) => describeError(one, causesLeft - 1)),
        }
      : {}),
  };
}
