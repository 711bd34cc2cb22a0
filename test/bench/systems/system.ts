import type { ServiceName } from '@svc/local';
import type { LinkTo, LoadTenant } from '../load/messages.ts';
import type { World } from '../load/children.ts';

/** A system under measurement, on a Postgres and a Redis of its own, and all that is outside it. */
export interface System {
  readonly name: 'product' | 'floor';
  readonly gatewayUrls: readonly string[];
  readonly links: readonly LinkTo[];
  readonly world: World;
  /** Tenants that are told of nothing, and as many that are told by webhook. */
  readonly quiet: readonly LoadTenant[];
  readonly told: readonly LoadTenant[];
  /** The processes by what they are. */
  pids(): Readonly<Record<string, readonly number[]>>;
  /** How many submissions have not ended yet. */
  inFlight(): Promise<number>;
  /** Of the submissions created since a moment (ms of the epoch): when they ended. */
  endedSince(sinceMs: number): Promise<Span>;
  /** Of the deliveries that came about since a moment: when, by the id that the webhook names. */
  deliveriesSince(sinceMs: number): Promise<ReadonlyMap<string, number>>;
  /** Ends all processes of a service, and starts as many. */
  stopService(service: BackgroundService): Promise<void>;
  startService(service: BackgroundService): Promise<void>;
  /** Of its Postgres and its Redis. */
  versions(): Promise<Record<string, string>>;
  close(): Promise<void>;
}

/** What may be away without a tenant noticing at once. */
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

/** The least UUIDv7 of a moment: what was made since has a greater id. */
export function idFloor(atMs: number): string {
  const hex = atMs.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}
