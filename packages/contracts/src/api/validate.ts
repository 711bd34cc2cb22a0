import { canonicalCidr, isExactTime, isPublicHost, jsonPointer } from '@svc/domain';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Static, TSchema } from 'typebox';
import { queryTimeFormat } from './common.ts';
import { cidrFormat } from './keys.ts';

/** One violation, as `errors[]` of a 422 shows it (CONTRACT 2). */
export interface FieldError {
  /**
   * A JSON Pointer to the wrong, missing or unknown member of the checked body or query. Empty for
   * the body or query itself. A long path is cut (`pathLengthMax`).
   */
  readonly path: string;
  /**
   * The rule that the member breaks, such as `must be a string`. It continues a sentence that
   * begins with the path.
   */
  readonly message: string;
  readonly keyword: string;
}

export type Validation<Value> =
  | { readonly kind: 'valid'; readonly value: Value }
  | { readonly kind: 'invalid'; readonly errors: readonly FieldError[] };

export const fieldErrorsMax = 20;
/**
 * The most characters of a path that an error shows. Paths need a limit because they contain names
 * of members, and a name may be as long as the body.
 */
const pathLengthMax = 256;

export const publicHttpUrlFormat = 'public-http-url';

const formats: Readonly<Record<string, { test: (text: string) => boolean; message: string }>> = {
  [publicHttpUrlFormat]: {
    test: isPublicHttpUrl,
    message: 'must be an http or https URL with a public host and without a user or password',
  },
  'date-time': {
    test: (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text),
    message: 'must be an RFC 3339 time with milliseconds and Z, like 2026-11-20T09:30:00.000Z',
  },
  [cidrFormat]: {
    test: (text) => canonicalCidr(text) !== undefined,
    message: 'must be a CIDR block without host bits, like 203.0.113.0/24 or 2001:db8::/32',
  },
  [queryTimeFormat]: {
    test: isExactTime,
    message: 'must be an RFC 3339 time with at most three decimals, like 2026-11-20T09:30:00.000Z',
  },
};

// Ajv does not check the schemas against the meta-schema, because loading the meta-schema costs 70
// ms of CPU.
const ajv = new Ajv2020({
  meta: false,
  validateSchema: false,
  allErrors: true,
  strict: true,
  allowUnionTypes: true,
});
for (const [name, format] of Object.entries(formats)) ajv.addFormat(name, format.test);
// The `uniqueItems` of Ajv throws for objects without a prototype, and a parsed body contains such
// objects.
ajv.removeKeyword('uniqueItems');
ajv.addKeyword({
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  validate: (_unique: boolean, list: readonly unknown[]) => {
    // Strings are enough, because our schemas use the keyword only for lists of strings.
    const texts = list.filter((item) => typeof item === 'string');
    return new Set(texts).size === texts.length;
  },
});

/**
 * Makes a function that checks a value. Keep the function, because its first call compiles the
 * schema. `basePath` is the JSON Pointer of the checked value in the body.
 */
export function compileSchema<Schema extends TSchema>(
  schema: Schema,
): (value: unknown, basePath?: string) => Validation<Static<Schema>> {
  let validate: ValidateFunction<Static<Schema>> | undefined;
  return (value, basePath = '') => {
    // The schema is compiled at the first check, because most processes load schemas that they
    // never use.
    validate ??= ajv.compile<Static<Schema>>(schema);
    if (validate(value)) return { kind: 'valid', value };
    const errors = (validate.errors ?? []).slice(0, fieldErrorsMax);
    return { kind: 'invalid', errors: errors.map((error) => fieldError(error, basePath)) };
  };
}

/** Creates the error for a value that violates a schema or another rule of an endpoint. */
export function fieldErrorAt(path: string, message: string, keyword: string): FieldError {
  const cut = path.length > pathLengthMax ? `${path.slice(0, pathLengthMax)}…` : path;
  // The name of a member may have lone surrogates or U+0000. They are replaced, because some JSON
  // parsers refuse an answer with them.
  return { path: cut.toWellFormed().replaceAll('\0', '\ufffd'), message, keyword };
}

function fieldError(error: ErrorObject, basePath: string): FieldError {
  const { keyword, params } = error;
  const at = basePath + error.instancePath;
  switch (keyword) {
    case 'required':
      return fieldErrorAt(at + jsonPointer([params['missingProperty']]), 'is required', keyword);
    case 'additionalProperties':
      return fieldErrorAt(
        at + jsonPointer([params['additionalProperty']]),
        'is not a known member',
        keyword,
      );
    default:
      return fieldErrorAt(at, messageOf(error), keyword);
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  object: 'an object',
  array: 'an array',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  null: 'null',
};

function messageOf({ keyword, params, message = 'is not valid' }: ErrorObject): string {
  switch (keyword) {
    case 'type':
      return `must be ${[params['type']]
        .flat()
        .map((name: string) => typeNames[name] ?? name)
        .join(' or ')}`;
    case 'minLength':
      return `must have ${characters(params['limit'])} or more`;
    case 'maxLength':
      return `must have ${characters(params['limit'])} or fewer`;
    case 'minimum':
      return `must be ${params['limit']} or more`;
    case 'maximum':
      return `must be ${params['limit']} or less`;
    case 'exclusiveMinimum':
      return `must be more than ${params['limit']}`;
    case 'minItems':
      return `must have ${items(params['limit'])} or more`;
    case 'maxItems':
      return `must have ${items(params['limit'])} or fewer`;
    case 'uniqueItems':
      return 'must not have the same item twice';
    case 'enum':
      return `must be one of ${params['allowedValues'].join(', ')}`;
    case 'format':
      return formats[params['format']]?.message ?? message;
    default:
      return message;
  }
}

function items(count: number): string {
  return count === 1 ? '1 item' : `${count} items`;
}

function characters(count: number): string {
  return count === 1 ? '1 character' : `${count} characters`;
}

/**
 * True only for an http or https URL with a public host and without a user or password
 * (CONTRACT 3).
 */
function isPublicHttpUrl(text: string): boolean {
  // Nodes get the text as sent, so texts that other URL parsers may read differently are refused.
  const authority = /^https?:\/\/([^/?#\\\s]+)(?:[/?#]|$)/i.exec(text)?.[1];
  if (authority === undefined || authority.includes('@')) return false;
  if (/[\\\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return false;
  return isPublicHost(new URL(text).hostname);
}
