import type { ServiceName } from '@svc/local';
import type { World } from '../load/children.ts';
import type { LinkTo, LoadTenant } from '../load/messages.ts';
import type { Written } from './counters.ts';

/** A system under measurement, with a Postgres and a Redis that no other system uses. */
export interface System {
  readonly name: string;
  readonly gatewayUrls: readonly string[];
  readonly links: readonly LinkTo[];
  /** The process that runs the nodes and the tenants' webhook endpoint. */
  readonly world: World;
  /** `quiet` are tenants without webhooks, and `notified` are as many tenants with webhooks. */
  readonly quiet: readonly LoadTenant[];
  readonly notified: readonly LoadTenant[];
  pids(): Readonly<Record<string, readonly number[]>>;
  written(): Promise<Written>;
  inFlight(): Promise<number>;
  /**
   * The submissions created since `sinceMs` that have ended: their count, and the first and the
   * last end time. All times are in Unix ms.
   */
  endedSince(sinceMs: number): Promise<Span>;
  /**
   * The creation times of the deliveries created since `sinceMs`, by the wire id of the delivery.
   * The webhook carries the same id. All times are in Unix ms.
   */
  deliveriesSince(sinceMs: number): Promise<ReadonlyMap<string, number>>;
  /** Ends all processes of a service. `startService` starts the same number again. */
  stopService(service: BackgroundService): Promise<void>;
  startService(service: BackgroundService): Promise<void>;
  versions(): Promise<Record<string, string>>;
  close(): Promise<void>;
}

/** Services that can be down while submissions are created. The work of a stopped service waits. */
export type BackgroundService = Extract<ServiceName, 'settlement' | 'webhooks'>;

export interface Span {
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

export interface SystemOptions {
  readonly dir: string;
  readonly tenants: number;
  readonly nodes: number;
}

/** The smallest UUIDv7 of a moment. Rows created later have greater ids. */
export function lowestIdAt(atMs: number): string {
  const hex = atMs.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}
