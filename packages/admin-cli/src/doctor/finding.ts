import type { ClusterHealth, HeardInstance, RedisHealth } from '@svc/queue';
import type { DatabaseHealth, KeyHolder, LedgerAuditStatus } from '@svc/store';

type FindingState = 'ok' | 'warning' | 'fault';

/** `remedy` says what to do. It is null if the state is `ok`. */
export interface Finding {
  readonly check: string;
  readonly state: FindingState;
  readonly found: string;
  readonly remedy: string | null;
}

export interface Deployment {
  readonly environment: 'sandbox' | 'production';
  /** The version of this `svc`, and the name of the last migration that its build contains. */
  readonly build: { readonly version: string; readonly schema: string };
  readonly databaseUrl: string;
  readonly redisUrl: string | undefined;
  /** The clock of Postgres, and this machine's time halfway through the query that read it. */
  readonly databaseClock: { readonly now: Date; readonly askedMs: number };
  readonly database: DatabaseHealth;
  /**
   * The missing partitions, such as `deliveries 2027-01`. The check covers last month to three
   * months ahead.
   */
  readonly partitionsMissing: readonly string[];
  readonly ledger: LedgerAuditStatus | null;
  readonly keyHolders: readonly KeyHolder[];
  readonly sealingKeys: readonly string[];
  readonly databaseTime: Date;
  readonly deadLetters: number;
  /**
   * True if a submission still has personal data that should have been deleted more than a day ago.
   * Null if no running service reports `retentionDays`.
   */
  readonly isPurgeLate: boolean | null;
  /**
   * The partitions whose retention ended more than a day ago, such as `deliveries 2026-01`. Null
   * unless running services report both `usageDays` and `deliveryDays`.
   */
  readonly partitionsOverdue: readonly string[] | null;
  /** A sentence about what is wrong in `REDIS_URL`. Undefined if nothing is known to be wrong. */
  readonly redisFault?: string | undefined;
  /** Null if `REDIS_URL` is not set or Redis cannot be reached. */
  readonly redis: {
    readonly health: RedisHealth;
    /** Null if `REDIS_URL` does not name a cluster. */
    readonly cluster: ClusterHealth | null;
    /** This machine's time halfway through the read of `health`. */
    readonly askedMs: number;
    /** The processes whose last heartbeat is less than `presenceSilentMs` old. */
    readonly services: readonly HeardInstance[];
  } | null;
}

export function ok(check: string, found: string): Finding {
  return { check, state: 'ok', found, remedy: null };
}

export function warning(check: string, found: string, remedy: string): Finding {
  return { check, state: 'warning', found, remedy };
}

export function fault(check: string, found: string, remedy: string): Finding {
  return { check, state: 'fault', found, remedy };
}

const localHosts = ['', 'localhost', '127.0.0.1', '[::1]'];

/**
 * True if every host of the URL is in `localHosts` or is a Unix socket. A connection to such a host
 * crosses no network.
 */
export function isLocal(url: string): boolean {
  const [, authority = '', query = ''] =
    /^[a-z+]+:\/\/(?:[^/?#]*@)?([^/?#]*)[^?#]*(?:\?([^#]*))?/.exec(url) ?? [];
  // In a URL of Postgres, the parameter `host` replaces the host of the authority.
  const hosts = new URLSearchParams(query).get('host') ?? decodeURIComponent(authority);
  return hosts.split(',').every((host) => {
    const name = host.replace(/:\d+$/, '');
    return localHosts.includes(name) || name.startsWith('/');
  });
}
