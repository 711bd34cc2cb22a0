import type { KeyScope } from '@svc/domain';
import type { Author, OperatorCredentials, TenantCredentials } from '@svc/store';
import type { Static, TObject } from 'typebox';
import type { Answer } from './answer.ts';
import { compileQuery } from './query.ts';
import type { SignedRequest } from './signed-request.ts';

export interface TenantRequest extends SignedRequest {
  readonly tenant: TenantCredentials;
  /** The id of the key that signed the request: a UUID, not a wire id. */
  readonly keyId: string;
}

export function authorOf({ tenant, keyId, requestId }: TenantRequest): Author {
  return { actor: { kind: 'tenant', id: tenant.tenantId, keyId }, requestId };
}

export interface OperatorRequest extends SignedRequest {
  readonly operator: OperatorCredentials;
}

interface Route {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /**
   * The path in Express's notation, such as `/pay/:reference`. The value of `:id`, `:reference`,
   * `:guide` or `:keyId` becomes the `id` of the request.
   */
  readonly path: string;
}

export interface OpenRequest {
  readonly requestId: string;
  /**
   * The group of addresses that contains the client's address. All addresses of a group share its
   * limits.
   */
  readonly addressGroup: string;
  /** The base URL at which the client reached the service, such as `https://host:port`. */
  readonly baseUrl: string;
  /** The `:reference` or `:guide` of the path, percent-decoded. Empty if the route has none. */
  readonly id: string;
  /** The raw body. Empty if the endpoint takes no body: the body is then not read. */
  readonly body: Buffer;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
}

export interface OpenEndpoint extends Route {
  readonly access: 'open';
  readonly takesBody?: true;
  handle(request: OpenRequest): Promise<Answer>;
}

export interface TenantEndpoint extends Route {
  readonly access: 'tenant';
  /** The scope that a key needs. Without it the answer is `403 scope_missing` (CONTRACT 12). */
  readonly scope: KeyScope;
  /** True if the endpoint changes settings, keys or endpoints, which has a slower rate limit. */
  readonly changesSettings?: boolean;
  /** The known query parameters. Any other is refused. */
  readonly parameters: readonly string[];
  handle(request: TenantRequest): Promise<Answer>;
}

/** The reply of a handler that places a hold. */
export type HoldReply =
  /**
   * `decidedByHold`: true if the SQL of the hold has found that the credentials are current. Their
   * age then does not matter.
   */
  | { readonly kind: 'answered'; readonly answer: Answer; readonly decidedByHold: boolean }
  /** The credentials have changed since the gateway read them. Nothing was held. */
  | { readonly kind: 'stale_credentials' };

/**
 * An endpoint whose handler places a hold. The handler may get credentials of any age, and may be
 * called again with newer ones (decision 17).
 */
export interface HoldEndpoint extends Route {
  readonly access: 'tenant_hold';
  readonly scope: KeyScope;
  readonly changesSettings?: never;
  readonly parameters: readonly string[];
  handle(request: TenantRequest): Promise<HoldReply>;
}

/** An endpoint for requests signed by an operator. A tenant's key gets `403 operator_only`. */
export interface OperatorEndpoint extends Route {
  readonly access: 'operator';
  readonly parameters: readonly string[];
  handle(request: OperatorRequest): Promise<Answer>;
}

export type SignedEndpoint = TenantEndpoint | HoldEndpoint | OperatorEndpoint;
export type Endpoint = OpenEndpoint | SignedEndpoint;

interface Definition<Request, Query extends TObject, Reply = Answer> extends Route {
  /** The scope that a tenant's key needs. If omitted: `read` for a GET, otherwise `settings`. */
  readonly scope?: KeyScope;
  readonly changesSettings?: true;
  /** The schema of the query parameters. It must be closed (`additionalProperties: false`). */
  readonly query: Query;
  handle(request: Request, query: Static<Query>): Promise<Reply>;
}

/** Makes an endpoint for tenants. A request's query is checked before `handle` (CONTRACT 3). */
export function tenantEndpoint<Query extends TObject>(
  definition: Definition<TenantRequest, Query>,
): TenantEndpoint {
  return {
    access: 'tenant',
    scope: scopeOf(definition),
    changesSettings: definition.changesSettings === true,
    ...withQuery(definition, sameAnswer),
  };
}

export function holdEndpoint<Query extends TObject>(
  definition: Definition<TenantRequest, Query, HoldReply>,
): HoldEndpoint {
  return {
    access: 'tenant_hold',
    scope: scopeOf(definition),
    ...withQuery(definition, decidedBeforeHold),
  };
}

function scopeOf({ method, scope }: Route & { readonly scope?: KeyScope }): KeyScope {
  return scope ?? (method === 'get' ? 'read' : 'settings');
}

export function decidedBeforeHold(answer: Answer): HoldReply {
  return { kind: 'answered', answer, decidedByHold: false };
}

export function operatorEndpoint<Query extends TObject>(
  definition: Definition<OperatorRequest, Query>,
): OperatorEndpoint {
  return { access: 'operator', ...withQuery(definition, sameAnswer) };
}

const sameAnswer = (answer: Answer): Answer => answer;

function withQuery<Request extends SignedRequest, Query extends TObject, Reply>(
  definition: Definition<Request, Query, Reply>,
  refused: (answer: Answer) => Reply,
) {
  const { method, path, query } = definition;
  const readQuery = compileQuery(query);
  return {
    method,
    path,
    parameters: Object.keys(query.properties),
    async handle(request: Request): Promise<Reply> {
      const reading = readQuery(request.target);
      if (reading.kind === 'problem') return refused(reading);
      return definition.handle(request, reading.query);
    },
  };
}
