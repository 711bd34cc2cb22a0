import { NotReady, Ready } from '../api/ready.ts';
import type { OperationDefinition } from './operation.ts';

export const serviceOperations: readonly OperationDefinition[] = [
  {
    operationId: 'getReady',
    method: 'get',
    path: '/ready',
    tag: 'Service',
    summary: 'Ask whether the service is ready',
    access: 'open',
    answers: {
      200: { description: 'Ready.', schema: Ready, example: { status: 'ready' } },
      503: {
        description: 'Not ready, and which dependencies do not answer.',
        schema: NotReady,
        example: { status: 'not_ready', missing: ['postgres'] },
      },
    },
    errors: [],
  },
  {
    operationId: 'getOpenApi',
    method: 'get',
    path: '/openapi.json',
    tag: 'Service',
    summary: 'This document',
    access: 'open',
    answers: {
      200: { description: 'OpenAPI 3.1.', texts: ['application/json'] },
    },
    errors: [],
  },
  {
    operationId: 'getReference',
    method: 'get',
    path: '/docs',
    tag: 'Service',
    summary: 'This document as a page to read',
    access: 'open',
    answers: { 200: { description: 'The reference page.', texts: ['text/html'] } },
    errors: [],
  },
  {
    operationId: 'getErrorReference',
    method: 'get',
    path: '/docs/errors',
    tag: 'Service',
    summary: 'Every error code, on the page that `type` of a problem points to',
    access: 'open',
    answers: { 200: { description: 'The page of errors.', texts: ['text/html'] } },
    errors: [],
  },
];
