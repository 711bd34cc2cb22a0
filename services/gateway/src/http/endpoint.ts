import type { TenantCredentials } from '@svc/store';
import type { Answer } from './answer.ts';

/** A request of an authenticated tenant, with its body as received. */
export interface TenantRequest {
  readonly requestId: string;
  readonly tenant: TenantCredentials;
  /** From the path; percent-decoded. */
  readonly id: string;
  readonly body: Buffer;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
}

interface Route {
  readonly method: 'get' | 'post';
  /** Express's notation; the only parameter there is is `:id`. */
  readonly path: string;
}

/** Anybody may ask; a body is not read. */
export interface OpenEndpoint extends Route {
  readonly access: 'open';
  handle(): Promise<Answer>;
}

/** Signed by a tenant (CONTRACT section 1). */
export interface TenantEndpoint extends Route {
  readonly access: 'tenant';
  /** Query parameters that it knows; any other is refused. */
  readonly parameters: readonly string[];
  handle(request: TenantRequest): Promise<Answer>;
}

export type Endpoint = OpenEndpoint | TenantEndpoint;
