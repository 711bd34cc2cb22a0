import { type PolledEvents as PolledEventsBody, PolledEventsQuery } from '@svc/contracts';
import { pageLimitDefault, toWireId } from '@svc/domain';
import { type PolledEvents, readPolledEvents } from '@svc/store';
import type { GatewayDeps } from '../deps.ts';
import { type Answer, json, notFound, rateLimited } from '../http/answer.ts';
import { decodeCursor, encodeCursor } from '../http/cursor.ts';
import { tenantEndpoint, type TenantEndpoint, type TenantRequest } from '../http/endpoint.ts';
import { queryProblem } from '../http/query.ts';
import { endpointAt, endpointsPath } from './record.ts';

/**
 * The `Retry-After` of a `429`. A request gets this answer if too many requests of its gateway or
 * its tenant wait already.
 */
const fullRetryMs = 5_000;

/**
 * `GET /v1/webhook-endpoints/:id/events` (CONTRACT 12). If there is no event after the cursor, the
 * request waits up to `waitSeconds`. It gets `429` if too many requests wait already.
 */
export function pollEventsEndpoint(deps: GatewayDeps): TenantEndpoint {
  return tenantEndpoint({
    method: 'get',
    path: `${endpointsPath}/:id/events`,
    query: PolledEventsQuery,
    handle: (request, query) => poll(deps, request, query),
  });
}

async function poll(
  { store, eventWaiters }: GatewayDeps,
  request: TenantRequest,
  { after: cursor, limit = pageLimitDefault, waitSeconds = 0 }: PolledEventsQuery,
): Promise<Answer> {
  const at = endpointAt(request);
  if (at === undefined) return notFound;
  const after = cursor === undefined ? 0n : positionOf(at.endpointId, cursor);
  if (after === undefined) return badCursor;
  const found = await readPolledEvents(store, { ...at, after, limit });
  if (found.kind === 'not_found') return notFound;
  if (found.events.length > 0 || waitSeconds === 0) return answerOf(at.endpointId, found);
  const awaited = { ...at, after: found.position };
  if ((await eventWaiters.wait(awaited, waitSeconds * 1000)) === 'full') {
    return rateLimited(
      fullRetryMs,
      'Too many requests wait for events. Repeat the request without `waitSeconds`.',
    );
  }
  const later = await readPolledEvents(store, { ...at, after: found.position, limit });
  return later.kind === 'not_found' ? notFound : answerOf(at.endpointId, later);
}

const badCursor = queryProblem([
  {
    path: '',
    parameter: 'after',
    message: 'must be the nextCursor of an earlier answer for this webhook endpoint',
    keyword: 'cursor',
  },
]);

/** Returns the position that `cursor` contains. Undefined if it is not a cursor of the endpoint. */
function positionOf(endpointId: string, cursor: string): bigint | undefined {
  const position = decodeCursor('events', cursor);
  return position?.id === endpointId ? BigInt(position.atMs) : undefined;
}

function answerOf(
  endpointId: string,
  { events, position }: Extract<PolledEvents, { kind: 'events' }>,
): Answer {
  const body: PolledEventsBody = {
    data: events.map(({ deliveryId, body: text }) => ({
      ...JSON.parse(text),
      deliveryId: toWireId('dlv', deliveryId),
    })),
    nextCursor: encodeCursor('events', { id: endpointId, atMs: Number(position) }),
  };
  return json(200, body);
}
