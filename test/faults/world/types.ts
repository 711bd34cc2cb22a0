import type { ServiceName } from '@svc/local';
import type { Pool } from 'pg';
import type { Recorder } from '../../history/recorder.ts';
import type { InjectedBug } from '../injected-bugs/injected-bug.ts';
import type { Http } from '../load/http.ts';
import type { Seen } from '../load/seen.ts';
import type { ControlledProcess } from './controlled-process.ts';
import type { Disk } from './disk.ts';
import type { Hosts } from './hosts.ts';
import type { PostgresUnderTest } from './postgres-server.ts';
import type { RedisUnderTest } from './redis-server.ts';
import type { TcpProxy, TcpTarget } from './tcp-proxy.ts';

export interface WorldOptions {
  readonly size: WorldSize;
  readonly bug?: InjectedBug | undefined;
  /**
   * The file that a service starts from. The default is its source. With an injected bug it must be
   * the source.
   */
  readonly entryOf?: ((service: ServiceName) => string) | undefined;
  /** True if each process can be asked how much memory it uses (soak/collected.ts). */
  readonly reportsMemory?: boolean;
  readonly servers?: Servers | undefined;
  /** The hosts of the processes. By default everything runs on this host. */
  readonly hosts?: Hosts | undefined;
  readonly recorder?: Recorder;
}

/**
 * The functions that open the servers of a world. Each gets the directory `dir` for the files of
 * its server. If a function is not given, the default server is opened.
 */
export interface Servers {
  readonly openPostgres?: (dir: string) => Promise<PostgresUnderTest>;
  readonly openRedis?: (dir: string) => Promise<RedisUnderTest>;
}

export interface WorldSize {
  readonly counts: Readonly<Record<ServiceName, number>>;
  readonly nodes: number;
  readonly slotsPerNode: number;
}

export interface World {
  readonly dir: string;
  readonly postgres: PostgresUnderTest;
  readonly redis: RedisUnderTest;
  readonly hosts: Hosts;
  readonly disks: { readonly postgres: Disk; readonly redis: Disk };
  readonly services: readonly ServiceUnderTest[];
  readonly nodes: readonly NodeUnderTest[];
  /** The proxies from `openProxy`, by the names of their ends, such as `gateway 0 - Postgres`. */
  readonly proxies: Map<string, TcpProxy>;
  readonly gatewayUrls: string[];
  readonly http: Http;
  readonly seen: Seen;
  readonly recorder: Recorder;
  readonly env: NodeJS.ProcessEnv;
  /**
   * The test's own connections to Postgres. They go through a proxy that no fault strikes, so only
   * a fault of Postgres cuts them.
   */
  readonly pool: Pool;
  /** Opens a proxy to `target`. The proxy listens at the address `listensAt`; default 127.0.0.1. */
  openProxy(
    name: string,
    target: () => TcpTarget | undefined,
    listensAt?: string,
  ): Promise<TcpProxy>;
  close(): Promise<void>;
}

export interface ServiceUnderTest {
  readonly service: ServiceName;
  readonly index: number;
  readonly process: ControlledProcess;
}

export interface NodeUnderTest {
  readonly nodeId: string;
  readonly process: ControlledProcess;
  readonly logFile: string;
}
