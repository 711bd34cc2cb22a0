import { NoQuery, type Settings, SettingsChange } from '@svc/contracts';
import { assertInvariant, creditsToNumber, toWireId } from '@svc/domain';
import { announceDeliveries } from '@svc/queue';
import { changeSettings, findTenant, type TenantRecord } from '@svc/store';
import { announce } from '../announce.ts';
import type { GatewayDeps } from '../deps.ts';
import { type Answer, json } from '../http/answer.ts';
import {
  authorOf,
  tenantEndpoint,
  type TenantEndpoint,
  type TenantRequest,
} from '../http/endpoint.ts';
import { compileBody } from '../http/read-object.ts';
import { refusedWebhookUrl } from './webhook-url.ts';

const path = '/v1/settings';

/** `GET /v1/settings` (CONTRACT 5). */
export function getSettingsEndpoint(deps: GatewayDeps): TenantEndpoint {
  return tenantEndpoint({
    method: 'get',
    path,
    query: NoQuery,
    async handle({ tenant: { tenantId } }) {
      const tenant = await findTenant(deps.store, tenantId);
      assertInvariant(tenant !== null, 'the tenant that signed the request exists');
      return json(200, settings(deps, tenant));
    },
  });
}

/** `PATCH /v1/settings`: omitted members stay unchanged. The answer contains all settings. */
export function changeSettingsEndpoint(deps: GatewayDeps): TenantEndpoint {
  const checkBody = compileBody(SettingsChange, ['lowBalanceThreshold']);
  return tenantEndpoint({
    method: 'patch',
    changesSettings: true,
    path,
    query: NoQuery,
    handle: async (request) => {
      const body = checkBody(request);
      if (body.kind === 'problem') return body;
      const { webhookUrl } = body.value;
      const refusal = refusedWebhookUrl(deps, webhookUrl);
      if (refusal !== undefined) return refusal;
      const threshold = body.amounts.get('lowBalanceThreshold');
      return change(deps, request, {
        ...(webhookUrl === undefined ? {} : { webhookUrl }),
        ...(threshold === undefined ? {} : { lowBalanceThresholdMicros: threshold }),
      });
    },
  });
}

async function change(
  deps: GatewayDeps,
  request: TenantRequest,
  changed: Parameters<typeof changeSettings>[2],
): Promise<Answer> {
  const { tenantId } = request.tenant;
  const { requestId } = request;
  const outcome = await changeSettings(deps.store, tenantId, changed, authorOf(request));
  assertInvariant(outcome !== null, 'the tenant that signed the request exists');
  const notifiedTenantIds = outcome.deliveryIds.length === 0 ? [] : [tenantId];
  await announce(deps, { requestId }, [announceDeliveries(deps.producer, notifiedTenantIds)]);
  return json(200, settings(deps, outcome.tenant));
}

function settings({ environment }: GatewayDeps, tenant: TenantRecord): Settings {
  const { webhookDisabled } = tenant;
  return {
    webhookUrl: tenant.webhookUrl,
    lowBalanceThreshold: creditsToNumber(tenant.lowBalanceThresholdMicros),
    webhookDisabled:
      webhookDisabled === null
        ? null
        : { at: webhookDisabled.at.toISOString(), reason: webhookDisabled.reason },
    allowedJobTypes: tenant.allowedJobTypes,
    tenantId: toWireId('tnt', tenant.id),
    environment,
  };
}
