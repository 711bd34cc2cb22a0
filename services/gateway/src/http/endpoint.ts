import type { OperatorCredentials, TenantCredentials } from '@svc/store';
import type { Static, TObject } from 'typebox';
import type { Answer } from './answer.ts';
import { compileQuery } from './query.ts';
import type { SignedRequest } from './signed-request.ts';

export interface TenantRequest extends SignedRequest {
  readonly tenant: TenantCredentials;
}

export interface OperatorRequest extends SignedRequest {
  readonly operator: OperatorCredentials;
}

interface Route {
  readonly method: 'get' | 'post' | 'patch';
  /** Express's notation; the only parameter that is passed on is `:id`. */
  readonly path: string;
}

/** A request that nobody signed. */
export interface OpenRequest {
  readonly requestId: string;
  /** What limits by address go by. */
  readonly addressGroup: string;
  /** Where the client finds the service, `https://host:port`, as far as it can be told. */
  readonly baseUrl: string;
  /** Empty where the endpoint takes none: it is not read then. */
  readonly body: Buffer;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
}

/** Anybody may ask. */
export interface OpenEndpoint extends Route {
  readonly access: 'open';
  /** Left out, a body is not read. */
  readonly takesBody?: true;
  handle(request: OpenRequest): Promise<Answer>;
}

/** Signed by a tenant (CONTRACT 1). */
export interface TenantEndpoint extends Route {
  readonly access: 'tenant';
  /** Query parameters that it knows; any other is refused. */
  readonly parameters: readonly string[];
  handle(request: TenantRequest): Promise<Answer>;
}

/** Signed by an operator; a tenant's key is told that it is none. */
export interface OperatorEndpoint extends Route {
  readonly access: 'operator';
  readonly parameters: readonly string[];
  handle(request: OperatorRequest): Promise<Answer>;
}

export type SignedEndpoint = TenantEndpoint | OperatorEndpoint;
export type Endpoint = OpenEndpoint | SignedEndpoint;

interface Definition<Request, Query extends TObject> extends Route {
  /** The schema of its query parameters, a closed one. */
  readonly query: Query;
  handle(request: Request, query: Static<Query>): Promise<Answer>;
}

/** A tenant's endpoint; its query is checked before `handle`, as CONTRACT 3 orders. */
export function tenantEndpoint<Query extends TObject>(
  definition: Definition<TenantRequest, Query>,
): TenantEndpoint {
  return { access: 'tenant', ...withQuery(definition) };
}

/** The same for an operator. */
export function operatorEndpoint<Query extends TObject>(
  definition: Definition<OperatorRequest, Query>,
): OperatorEndpoint {
  return { access: 'operator', ...withQuery(definition) };
}

function withQuery<Request extends SignedRequest, Query extends TObject>(
  definition: Definition<Request, Query>,
) {
  const { method, path, query } = definition;
  const readQuery = compileQuery(query);
  return {
    method,
    path,
    parameters: Object.keys(query.properties),
    async handle(request: Request): Promise<Answer> {
      const reading = readQuery(request.target);
      return reading.kind === 'problem' ? reading : await definition.handle(request, reading.query);
    },
  };
}
