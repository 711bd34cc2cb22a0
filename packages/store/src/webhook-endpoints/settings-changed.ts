import { assertInvariant, eventBody, settingsChangedEventData, toWireId } from '@svc/domain';
import type { Author } from '../audit-log/audit.ts';
import { changedBy } from '../audit-log/tenant-changes.ts';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { destinationColumns, type Destinations } from '../deliveries/destinations.ts';
import { deliveryIdsOf, insertEvents } from '../deliveries/outbox.ts';

export async function readDestinations(query: Query, tenantId: string): Promise<Destinations> {
  const [row] = await query<Destinations>(
    `SELECT ${destinationColumns('t')} FROM tenants t WHERE t.id = $1::uuid`,
    [tenantId],
  );
  assertInvariant(row !== undefined, 'the tenant of the changed settings exists');
  return row;
}

export interface SettingsChanged {
  readonly tenantId: string;
  /**
   * The name of the change, such as `key.created`. The event contains this name instead of the
   * changed values, so it contains no secrets and no URLs.
   */
  readonly what: string;
  readonly by: Author;
  /**
   * If the change affects destinations, pass those from before the change (CONTRACT 12). If left
   * out, the current ones are read.
   */
  readonly destinations?: Destinations;
}

/**
 * Writes `settings.changed` to the outbox, in the transaction of the change (CONTRACT 12). Returns
 * the ids of the deliveries to announce after the commit.
 */
export async function insertSettingsChanged(
  store: Store,
  query: Query,
  { tenantId, what, by, destinations }: SettingsChanged,
): Promise<string[]> {
  const { notified, endpoints } = destinations ?? (await readDestinations(query, tenantId));
  const [row] = await query<{ now: Date }>('SELECT svc_now() AS now', []);
  const at = row?.now ?? new Date(0);
  const type = 'settings.changed';
  const data = settingsChangedEventData({ what, by: changedBy(by.actor), at });
  const events = await insertEvents(store, query, [
    {
      tenantId,
      type,
      submissionId: null,
      requestId: by.requestId,
      notified,
      endpoints,
      body: (id) => eventBody({ id: toWireId('evt', id), type, at, data }),
    },
  ]);
  return deliveryIdsOf(events);
}
