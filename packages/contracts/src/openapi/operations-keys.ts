import { AuditPage, AuditQuery } from '../api/audit.ts';
import { WireId } from '../api/common.ts';
import { KeyCreated, KeyList, KeyRequest } from '../api/keys.ts';
import * as examples from './annotations/examples.ts';
import type { OperationDefinition } from './operation.ts';

export const keyOperations: readonly OperationDefinition[] = [
  {
    operationId: 'listKeys',
    method: 'get',
    path: '/v1/keys',
    tag: 'Keys',
    summary: 'List the keys',
    description:
      'The valid keys of the tenant, newest first. Keys from the creation of the tenant and from rotations are listed too. `lastUsedAt` is exact to the minute.',
    access: 'tenant',
    answers: {
      200: { description: 'All keys.', schema: KeyList, example: { data: [examples.key] } },
    },
    errors: [],
  },
  {
    operationId: 'createKey',
    method: 'post',
    path: '/v1/keys',
    tag: 'Keys',
    summary: 'Create a key',
    description:
      'To use the new key, send its id in `X-SVC-Key` and sign with its secret. The key has all scopes, works from any address and never expires, unless you limit it. A key cannot create a key with a scope that it does not have itself.',
    access: 'tenant',
    request: {
      schema: KeyRequest,
      isOptional: true,
      examples: {
        reporting: { scopes: ['read'], addresses: ['203.0.113.0/24'], expiresInDays: 90 },
        all: {},
      },
    },
    answers: {
      201: {
        description: 'The key, with its secret. The secret is shown only once.',
        schema: KeyCreated,
        example: { ...examples.key, lastUsedAt: null, hmacSecret: examples.hmacSecret },
        links: {
          delete: {
            operationId: 'deleteKey',
            parameter: 'keyId',
            from: '/keyId',
            description: 'Delete the key.',
          },
        },
      },
    },
    errors: ['key_limit', 'unsupported_media_type'],
  },
  {
    operationId: 'deleteKey',
    method: 'delete',
    path: '/v1/keys/:keyId',
    tag: 'Keys',
    summary: 'Delete a key',
    description:
      'The service refuses new submissions with the deleted key at once, and other requests with it within 5 seconds. You cannot delete the last key that may change the settings.',
    access: 'tenant',
    pathParameters: {
      keyId: { schema: WireId('key'), description: 'The id of the key.', example: examples.keyId },
    },
    answers: { 204: { description: 'The key is deleted.' } },
    errors: ['not_found', 'last_key'],
  },
  {
    operationId: 'listAudit',
    method: 'get',
    path: '/v1/audit',
    tag: 'Keys',
    summary: 'List the changes to settings, endpoints and keys',
    description:
      'The changes to the settings, secrets, webhook endpoints and keys of the tenant, newest first. `by` shows who made the change. The values of secrets and the queries of URLs are left out.',
    access: 'tenant',
    query: AuditQuery,
    answers: {
      200: {
        description: 'One page.',
        schema: AuditPage,
        example: { data: [examples.auditEntry], nextCursor: null },
      },
    },
    errors: [],
  },
];
