import type { GatewayDeps } from '../deps.ts';
import type { Endpoint } from '../http/endpoint.ts';
import {
  changeEndpointEndpoint,
  createEndpointEndpoint,
  deleteEndpointEndpoint,
  rotateEndpointSecretEndpoint,
} from './change-endpoints.ts';
import { pollEventsEndpoint } from './poll-events.ts';
import { getEndpointEndpoint, listEndpointsEndpoint } from './read-endpoints.ts';
import { testEndpointEndpoint } from './test-endpoint.ts';

/** The routes of a tenant's webhook endpoints (CONTRACT 12). */
export function webhookEndpointEndpoints(deps: GatewayDeps): readonly Endpoint[] {
  return [
    listEndpointsEndpoint(deps),
    createEndpointEndpoint(deps),
    getEndpointEndpoint(deps),
    changeEndpointEndpoint(deps),
    deleteEndpointEndpoint(deps),
    rotateEndpointSecretEndpoint(deps),
    testEndpointEndpoint(deps),
    pollEventsEndpoint(deps),
  ];
}
