import type { ErrorCode } from '@svc/domain';
import type { TObject, TSchema } from 'typebox';

/** One endpoint of the gateway as the OpenAPI document describes it (CONTRACT 5). */
export interface OperationDefinition {
  readonly operationId: string;
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** The path in the notation of the gateway's routes: `/v1/submissions/:id`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Who signs the request. `open` needs no signature. */
  readonly access: 'open' | 'tenant' | 'operator';
  readonly pathParameters?: Readonly<Record<string, ParameterDefinition>>;
  readonly query?: TObject;
  readonly request?: RequestDefinition;
  readonly answers: Readonly<Record<number, AnswerDefinition>>;
  /**
   * The error codes of this endpoint, in addition to those that every endpoint with the same
   * `access` has.
   */
  readonly errors: readonly ErrorCode[];
}

export interface ParameterDefinition {
  readonly schema: TSchema;
  readonly description: string;
  readonly example?: unknown;
}

export interface RequestDefinition {
  readonly schema: TSchema;
  readonly isOptional?: true;
  readonly examples: Readonly<Record<string, unknown>>;
  /**
   * Media types that the endpoint accepts in addition to `application/json`. The body has the same
   * members in each media type.
   */
  readonly mediaTypes?: readonly string[];
  /** If an HTML form sent the request, problems with these statuses are answered as a page. */
  readonly problemPages?: readonly number[];
}

/**
 * An OpenAPI link from an answer to a further operation. A member of the answer becomes the path
 * parameter `parameter` of that operation.
 */
export interface OperationLink {
  readonly operationId: string;
  readonly parameter: string;
  /** A JSON Pointer into the answer, such as `/id`. `parameter` gets the value at this place. */
  readonly from: string;
  readonly description: string;
}

export interface AnswerDefinition {
  readonly description: string;
  /** The schema of an `application/json` answer. */
  readonly schema?: TSchema;
  readonly example?: unknown;
  readonly links?: Readonly<Record<string, OperationLink>>;
  /** Media types in which the answer has no schema: pages, images and whole documents. */
  readonly texts?: readonly string[];
}

const everybody = [
  'bad_request',
  'request_timeout',
  'misdirected_request',
  'headers_too_large',
  'internal_error',
] as const satisfies readonly ErrorCode[];

const signed = [
  'unauthenticated',
  'payload_too_large',
  'validation_error',
  'rate_limited',
  'unavailable',
] as const satisfies readonly ErrorCode[];

/**
 * Every endpoint with the access `tenant` has these codes in addition to `signed`, because the key
 * of a tenant may lack the scope that the endpoint needs.
 */
const keyed = ['scope_missing'] as const satisfies readonly ErrorCode[];

export function codesOf({ access, errors }: OperationDefinition): readonly ErrorCode[] {
  const own = [...(access === 'open' ? [] : signed), ...(access === 'tenant' ? keyed : [])];
  return [...new Set([...errors, ...own, ...everybody])];
}

/** The path as OpenAPI writes it: `/v1/submissions/{id}`. */
export function templateOf(path: string): string {
  return path.replaceAll(/:([A-Za-z]+)/g, '{$1}');
}
