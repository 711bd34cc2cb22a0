import { Type } from 'typebox';
import { NotReady, Ready } from '../api/ready.ts';
import { SignupAnswer, SignupRequest } from '../api/signup.ts';
import { applicantProfileSchemaPath } from '../job-types/applicant-profile.ts';
import { profileGuidePath } from '../job-types/profile-guide.ts';
import * as examples from './annotations/examples.ts';
import type { OperationDefinition } from './operation.ts';

export const guidesPath = '/docs/guides';

type PageDefinition = Pick<OperationDefinition, 'operationId' | 'path' | 'summary' | 'description'>;

function pageOperations(definition: PageDefinition): OperationDefinition[] {
  const { operationId, path, summary } = definition;
  const shared = { method: 'get', tag: 'Service', access: 'open', errors: [] } as const;
  return [
    {
      ...shared,
      ...definition,
      answers: { 200: { description: 'The page.', texts: ['text/html'] } },
    },
    {
      ...shared,
      operationId: `${operationId}Markdown`,
      path: `${path}.md`,
      summary: `${summary}, as Markdown`,
      description: 'The same content as the page at the address without `.md`.',
      answers: { 200: { description: 'The page as Markdown.', texts: ['text/markdown'] } },
    },
  ];
}

export const serviceOperations: readonly OperationDefinition[] = [
  {
    operationId: 'signUp',
    method: 'post',
    path: '/signup',
    tag: 'Service',
    summary: 'Sign up for the sandbox',
    description:
      'Available only in the sandbox; in production the route does not exist. The secrets are shown only in this answer. If the request is a form, the answers `201`, `422` and `429` are pages. By default, one address may sign up five tenants at once, and then one every twelve minutes.',
    access: 'open',
    request: {
      schema: SignupRequest,
      mediaTypes: ['application/x-www-form-urlencoded'],
      problemPages: [422, 429],
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
    description: 'The page shows the sign-up form. In production the route does not exist.',
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
    description: 'This check is for load balancers and monitoring. It needs no signature.',
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
    summary: 'Read the OpenAPI document',
    description: 'The document is the same in every environment.',
    access: 'open',
    answers: {
      200: { description: 'OpenAPI 3.1.', texts: ['application/json'] },
    },
    errors: [],
  },
  ...pageOperations({
    operationId: 'getReference',
    path: '/docs',
    summary: 'Open this document as a page',
    description:
      'The page lists every endpoint with its errors, and every event. It has no scripts.',
  }),
  ...pageOperations({
    operationId: 'getErrorReference',
    path: '/docs/errors',
    summary: 'Open the page that the `type` of an error links to',
    description: 'Every code has an anchor on the page.',
  }),
  ...pageOperations({
    operationId: 'getProfileReference',
    path: profileGuidePath,
    summary: 'Open the page on `applicantProfile` of `ats.application`',
    description: 'The members that nodes read, and how nodes fill in forms with these members.',
  }),
  ...pageOperations({
    operationId: 'getChangelog',
    path: '/docs/changelog',
    summary: 'Open the changelog',
    description: 'The changes of each version.',
  }),
  {
    operationId: 'getGuide',
    method: 'get',
    path: `${guidesPath}/:guide`,
    tag: 'Service',
    summary: 'Open a guide',
    description:
      'With `.md` after the name, you get the guide as Markdown. `/llms.txt` lists all guides.',
    access: 'open',
    pathParameters: {
      guide: {
        schema: Type.String({ minLength: 1, maxLength: 64 }),
        description: 'The name of the guide.',
        example: 'quick-start',
      },
    },
    answers: { 200: { description: 'The guide.', texts: ['text/html', 'text/markdown'] } },
    errors: ['not_found'],
  },
  {
    operationId: 'getDocumentationIndex',
    method: 'get',
    path: '/llms.txt',
    tag: 'Service',
    summary: 'Read the index of all pages',
    description: 'One line for each page, with the address of its Markdown version (llmstxt.org).',
    access: 'open',
    answers: { 200: { description: 'The index.', texts: ['text/plain'] } },
    errors: [],
  },
  {
    operationId: 'getProfileSchema',
    method: 'get',
    path: applicantProfileSchemaPath,
    tag: 'Service',
    summary: 'Read the JSON Schema of `applicantProfile` of `ats.application`',
    description:
      'Validate each profile with this schema before you send it. The service does not use this schema. If a profile is malformed, the job fails on the node with `invalid_payload`; the simulated nodes of the sandbox do not check profiles.',
    access: 'open',
    answers: {
      200: { description: 'JSON Schema 2020-12.', texts: ['application/schema+json'] },
    },
    errors: [],
  },
];
