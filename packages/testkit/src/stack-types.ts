import type { NewTenant, NodeCredentials, ServiceName, TenantCredentials } from '@svc/local';
import type { TestDatabase } from './database.ts';

export interface StackOptions {
  /**
   * The number of gateway processes. The next three members count the processes of the other
   * services. The default is 1, and 0 starts no process.
   */
  readonly gateways?: number;
  readonly dispatchers?: number;
  readonly settlements?: number;
  readonly webhooks?: number;
  /**
   * The number of simulated nodes (packages/node-agent), spread over the dispatchers; default 0.
   */
  readonly nodes?: number;
  /** True if gateways and dispatchers use TLS, with a certificate for this stack. */
  readonly tls?: boolean;
  /**
   * Environment variables for the services and `svc`. They override those of the testkit, except
   * its variables for TLS and for the ports.
   */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Further variables of the processes with this index, of each service. Called at each start of a
   * process, so a restart can give it others.
   */
  readonly envAt?: (index: number) => Readonly<Record<string, string>>;
  /** Creates the database; the default is `createTestDatabase`. */
  readonly database?: () => Promise<TestDatabase>;
  /** True if tests may arm failpoints in the services. */
  readonly failpoints?: boolean;
}

export interface TestStack {
  /** The address of the first gateway. */
  readonly gatewayUrl: string;
  readonly gatewayUrls: readonly string[];
  /** The address at which nodes link to the first dispatcher. */
  readonly nodeLinkUrl: string;
  readonly nodeLinkUrls: readonly string[];
  /** The self-signed certificate of the stack, as PEM. Undefined without TLS. */
  readonly ca: string | undefined;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly query: TestDatabase['query'];
  /** The address at which a process serves /live, /ready and /metrics. */
  adminUrl(service: ServiceName, index?: number): string;
  pid(service: ServiceName, index?: number): number;
  /** Runs `svc … --json` against this stack. */
  svc(words: readonly string[]): Promise<unknown>;
  createTenant(tenant?: Partial<NewTenant>): Promise<TenantCredentials>;
  createNode(name?: string): Promise<NodeCredentials>;
  /** Kills the process with SIGKILL, without a drain. */
  kill(service: ServiceName | 'node', index?: number): Promise<void>;
  /**
   * Sends SIGTERM, and waits until the process has drained and ended. If the process still runs
   * after 12 s, kills the process.
   */
  stop(service: ServiceName | 'node', index?: number): Promise<void>;
  /**
   * Kills the process if it still runs, and starts it again on the same ports. No failpoint is
   * armed in the new process.
   */
  restart(service: ServiceName | 'node', index?: number): Promise<void>;
  /**
   * Arms a failpoint: the first process of the service that reaches it stops there. Processes that
   * reach it later continue.
   */
  armFailpoint(service: ServiceName, name: string): Promise<void>;
  /**
   * Resolves with the index of the process at the failpoint. Throws after `timeoutMs` (10 s by
   * default).
   */
  failpointReached(
    service: ServiceName,
    name: string,
    options?: { readonly timeoutMs?: number },
  ): Promise<number>;
  releaseFailpoint(service: ServiceName, name: string): void;
  flushRedis(): Promise<void>;
  /** Moves the database's clock forward. Leases and deadlines in the database use this clock. */
  advanceClock(ms: number): Promise<void>;
  /** The log lines of a process since its last start; only the newest 2,000 if there are more. */
  logs(service: ServiceName | 'node', index?: number): readonly string[];
  /**
   * Stops everything. Throws if a running service or node does not drain, or if a session of the
   * database stays open.
   */
  close(): Promise<void>;
}
