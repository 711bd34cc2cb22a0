import { randomBytes } from 'node:crypto';
import { type Key, type KeyCreated, type KeyList, KeyRequest, NoQuery } from '@svc/contracts';
import {
  assertNever,
  canonicalCidr,
  errorCatalogue,
  fromWireId,
  keyScopes,
  toWireId,
} from '@svc/domain';
import { announceDeliveries } from '@svc/queue';
import { newSecret } from '@svc/signing';
import { createKey, deleteKey, type KeyRecord, listKeys } from '@svc/store';
import { wrongSignature } from '../access/authenticate.ts';
import { announce } from '../announce.ts';
import type { GatewayDeps } from '../deps.ts';
import { type Answer, json, noContent, notFound, problem } from '../http/answer.ts';
import {
  authorOf,
  tenantEndpoint,
  type TenantEndpoint,
  type TenantRequest,
} from '../http/endpoint.ts';
import { compileBody } from '../http/read-object.ts';

const path = '/v1/keys';

/**
 * `GET /v1/keys` (CONTRACT 12): the valid keys. This gateway first stores the key uses that it has
 * collected, so `lastUsedAt` in the answer includes them.
 */
export function listKeysEndpoint({ store, keyUses }: GatewayDeps): TenantEndpoint {
  return tenantEndpoint({
    method: 'get',
    path,
    query: NoQuery,
    async handle({ tenant }) {
      await keyUses.flush();
      const keys = await listKeys(store, tenant.tenantId);
      const body: KeyList = { data: keys.map(keyView) };
      return json(200, body);
    },
  });
}

/** `POST /v1/keys`. An empty body counts as `{}`, which asks for a key with all scopes. */
export function createKeyEndpoint(deps: GatewayDeps): TenantEndpoint {
  const checkBody = compileBody(KeyRequest, []);
  return tenantEndpoint({
    method: 'post',
    changesSettings: true,
    path,
    query: NoQuery,
    async handle(request) {
      const isEmpty = request.body.length === 0;
      const body = isEmpty ? { kind: 'checked' as const, value: {} } : checkBody(request);
      return body.kind === 'problem' ? body : create(deps, request, body.value);
    },
  });
}

export function deleteKeyEndpoint(deps: GatewayDeps): TenantEndpoint {
  return tenantEndpoint({
    method: 'delete',
    changesSettings: true,
    path: `${path}/:keyId`,
    query: NoQuery,
    async handle(request) {
      const keyId = fromWireId('key', request.id);
      if (keyId === undefined) return notFound;
      const { tenantId } = request.tenant;
      const outcome = await deleteKey(deps.store, { tenantId, keyId }, authorOf(request));
      switch (outcome.kind) {
        case 'deleted':
          await announceChange(deps, request, outcome.deliveryIds);
          return noContent;
        case 'not_found':
          return notFound;
        case 'last_key':
          return lastKey;
        case 'exceeds_signer':
          return deletesMore;
        case 'signer_gone':
          return wrongSignature;
        default:
          return assertNever(outcome);
      }
    },
  });
}

const lastKey = problem('last_key', errorCatalogue.last_key.description);
const keyLimit = problem('key_limit', errorCatalogue.key_limit.description);
const createsMore = problem(
  'scope_missing',
  'The new key could do more than the signing key. Its scopes must be among those of the signing key, its addresses must lie within them, and it must not expire later. Name them in the body, or sign with another key.',
);
const deletesMore = problem(
  'scope_missing',
  'The key can do more than the signing key: it has another scope, other addresses or a later expiry. Sign with a key without limits.',
);

async function create(
  deps: GatewayDeps,
  request: TenantRequest,
  { scopes: asked = [...keyScopes], addresses = [], expiresInDays }: KeyRequest,
): Promise<Answer> {
  const { tenantId } = request.tenant;
  const scopes = keyScopes.filter((scope) => asked.includes(scope));
  const secret = newSecret(deps.environment === 'sandbox' ? 'hsk_test' : 'hsk_live', randomBytes);
  const blocks = addresses.flatMap((block) => canonicalCidr(block) ?? []);
  const outcome = await createKey(
    deps.store,
    {
      tenantId,
      secret,
      scopes,
      addresses: [...new Set(blocks)],
      expiresInDays: expiresInDays ?? null,
    },
    authorOf(request),
  );
  switch (outcome.kind) {
    case 'key_limit':
      return keyLimit;
    case 'exceeds_signer':
      return createsMore;
    case 'signer_gone':
      return wrongSignature;
    case 'created': {
      await announceChange(deps, request, outcome.deliveryIds);
      const body: KeyCreated = { ...keyView(outcome.key), hmacSecret: secret };
      return json(201, body);
    }
    default:
      return assertNever(outcome);
  }
}

async function announceChange(
  deps: GatewayDeps,
  { tenant: { tenantId }, requestId }: TenantRequest,
  deliveryIds: readonly string[],
): Promise<void> {
  const tenantIds = deliveryIds.length === 0 ? [] : [tenantId];
  await announce(deps, { requestId }, [announceDeliveries(deps.producer, tenantIds)]);
}

function keyView(key: KeyRecord): Key {
  return {
    keyId: toWireId('key', key.id),
    scopes: [...key.scopes],
    addresses: key.addresses,
    createdAt: key.createdAt.toISOString(),
    expiresAt: key.expiresAt?.toISOString() ?? null,
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
  };
}
