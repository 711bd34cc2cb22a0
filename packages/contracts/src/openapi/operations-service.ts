import { NotReady, Ready } from '../api/ready.ts';
import { SignupAnswer, SignupRequest } from '../api/signup.ts';
import { applicantProfileSchemaPath } from '../job-types/applicant-profile.ts';
import { profileGuidePath } from '../job-types/profile-guide.ts';
import * as examples from './annotations/examples.ts';
import type { OperationDefinition } from './operation.ts';

export const serviceOperations: readonly OperationDefinition[] = [
  {
    operationId: 'signUp',
    method: 'post',
    path: '/signup',
    tag: 'Service',
    summary: 'Sign up for the sandbox',
    description:
      'Available only in the sandbox; in production the route does not exist. The secrets are shown only in this answer. A form is answered with a page, with the same status codes. One address may sign up at most five tenants an hour.',
    access: 'open',
    request: {
      schema: SignupRequest,
      mediaTypes: ['application/x-www-form-urlencoded'],
      examples: { signup: { name: 'Example Works', webhookUrl: 'https://hooks.example.com/svc' } },
    },
    answers: {
      201: {
        description: 'The new tenant.',
        schema: SignupAnswer,
        texts: ['text/html'],
        example: {
          tenantId: examples.tenantId,
          hmacSecret: 'hsk_test_vectorVectorVectorVector01',
          webhookSecret: 'whsec_c3ZjLXdlYmhvb2stc2VjcmV0LXZlY3Rvci0wMDAwMDE=',
          allowedJobTypes: ['ats.application'],
          balance: 10_000,
        },
      },
    },
    errors: [
      'payload_too_large',
      'unsupported_media_type',
      'validation_error',
      'rate_limited',
      'unavailable',
    ],
  },
  {
    operationId: 'getSignupPage',
    method: 'get',
    path: '/signup',
    tag: 'Service',
    summary: 'Open the page to sign up (sandbox only)',
    description: 'A form. In production the route does not exist.',
    access: 'open',
    answers: { 200: { description: 'The page.', texts: ['text/html'] } },
    errors: [],
  },
  {
    operationId: 'getReady',
    method: 'get',
    path: '/ready',
    tag: 'Service',
    summary: 'Check if the service is ready',
    description: 'For load balancers and monitoring. Needs no signature.',
    access: 'open',
    answers: {
      200: { description: 'Ready.', schema: Ready, example: { status: 'ready' } },
      503: {
        description: 'Not ready. `missing` names the dependencies that do not answer.',
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
    summary: 'Read this document',
    description: 'It is the same in every environment.',
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
    summary: 'Open this document as a page',
    description: 'Every endpoint, error and event, without scripts.',
    access: 'open',
    answers: { 200: { description: 'The reference page.', texts: ['text/html'] } },
    errors: [],
  },
  {
    operationId: 'getErrorReference',
    method: 'get',
    path: '/docs/errors',
    tag: 'Service',
    summary: 'Open the page of errors, to which `type` of a problem links',
    description: 'Every code has an anchor on the page.',
    access: 'open',
    answers: { 200: { description: 'The page of errors.', texts: ['text/html'] } },
    errors: [],
  },
  {
    operationId: 'getProfileReference',
    method: 'get',
    path: profileGuidePath,
    tag: 'Service',
    summary: 'Open the page on `applicantProfile` of `ats.application`',
    description: 'The members that nodes read, and how they fill in forms with them.',
    access: 'open',
    answers: { 200: { description: 'The page.', texts: ['text/html'] } },
    errors: [],
  },
  {
    operationId: 'getProfileSchema',
    method: 'get',
    path: applicantProfileSchemaPath,
    tag: 'Service',
    summary: 'Read the JSON Schema of `applicantProfile` of `ats.application`',
    description:
      'Validate a profile with it before you send it. The service passes profiles on without this check, and a node refuses a malformed one with `invalid_payload`.',
    access: 'open',
    answers: {
      200: { description: 'JSON Schema 2020-12.', texts: ['application/schema+json'] },
    },
    errors: [],
  },
];
