import type { NewTenant, NodeCredentials, ServiceName, TenantCredentials } from '@svc/local';
import type { TestDatabase } from './database.ts';

export interface StackOptions {
  /** How many processes of each service; 1 where left out, 0 for none. */
  readonly gateways?: number;
  readonly dispatchers?: number;
  readonly settlements?: number;
  readonly webhooks?: number;
  /** How many simulated nodes (packages/node-agent), spread over the dispatchers; 0 at first. */
  readonly nodes?: number;
  /** Whether gateways and dispatchers serve TLS, with a certificate made for this stack. */
  readonly tls?: boolean;
  /** For every process, over what the testkit sets. */
  readonly env?: Readonly<Record<string, string>>;
  /** The failpoints armed in each first process of a service. */
  readonly failpoints?: Partial<Record<ServiceName, readonly string[]>>;
}

/** Real service processes over a Postgres database and a Redis server of their own. */
export interface TestStack {
  /** Of the first gateway. */
  readonly gatewayUrl: string;
  readonly gatewayUrls: readonly string[];
  /** Of the first dispatcher. */
  readonly nodeLinkUrl: string;
  readonly nodeLinkUrls: readonly string[];
  /** Whom its certificate is signed by, as PEM; undefined without TLS. */
  readonly ca: string | undefined;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly query: TestDatabase['query'];
  /** Where a process serves /live, /ready and /metrics. */
  adminUrl(service: ServiceName, index?: number): string;
  /** Runs `svc … --json` against this stack. */
  svc(words: readonly string[]): Promise<unknown>;
  createTenant(tenant?: Partial<NewTenant>): Promise<TenantCredentials>;
  createNode(name?: string): Promise<NodeCredentials>;
  /** kill -9. */
  kill(service: ServiceName | 'node', index?: number): Promise<void>;
  /** SIGTERM; resolves when it has drained and ended. */
  stop(service: ServiceName | 'node', index?: number): Promise<void>;
  /** Starts it again on the same ports, killing it first where it still runs; no failpoints. */
  restart(service: ServiceName | 'node', index?: number): Promise<void>;
  /** Resolves with the index of the process that stands at the failpoint. */
  failpointReached(
    service: ServiceName,
    name: string,
    options?: { readonly timeoutMs?: number },
  ): Promise<number>;
  releaseFailpoint(service: ServiceName, name: string): void;
  flushRedis(): Promise<void>;
  /** Moves the time that leases and deadlines go by. */
  advanceClock(ms: number): Promise<void>;
  /** The last log lines of a process, since it was last started. */
  logs(service: ServiceName | 'node', index?: number): readonly string[];
  /** Ends everything. Throws where a service did not drain, or left Postgres open. */
  close(): Promise<void>;
}
