import { createHash } from 'node:crypto';
import {
  apiOperations,
  applicantProfileSchema,
  applicantProfileSchemaPath,
  codesOf,
  openApiDocument,
  problemType,
  profileExamples,
  profileMistakes,
  standardFields,
  templateOf,
  type OperationDefinition,
} from '@svc/contracts';
import { errorCodes, eventTypes } from '@svc/domain';
import { expect, test } from 'vitest';
import type { GatewayDeps } from '../deps.ts';
import { endpointsOf } from '../endpoints.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { errorsPage } from './errors-page.ts';
import { profilePage } from './profile-page.ts';
import { referencePage } from './reference-page.ts';

// No endpoint is called here, so none needs its dependencies.
const nothing: GatewayDeps = Object.create(null);
const endpoints = endpointsOf(nothing);

const ofTable = (endpoint: Endpoint) => ({
  route: `${endpoint.method} ${endpoint.path}`,
  access: endpoint.access === 'tenant_hold' ? 'tenant' : endpoint.access,
  query: endpoint.access === 'open' ? [] : [...endpoint.parameters].toSorted(),
});

const ofDocument = ({ method, path, access, query }: OperationDefinition) => ({
  route: `${method} ${path}`,
  access,
  query: Object.keys(query?.properties ?? {}).toSorted(),
});

const byRoute = (one: { route: string }, other: { route: string }) =>
  one.route.localeCompare(other.route);

test('the document describes exactly the served routes, their signers and query parameters', () => {
  expect(endpoints.map(ofTable).toSorted(byRoute)).toEqual(
    apiOperations.map(ofDocument).toSorted(byRoute),
  );
});

test('the document describes every path parameter', () => {
  for (const { path, pathParameters = {} } of apiOperations) {
    const names = [...path.matchAll(/:([A-Za-z]+)/g)].map(([, name]) => name);
    expect(Object.keys(pathParameters)).toEqual(names);
  }
});

test('the page of errors has every code of the catalogue under the anchor of its type', () => {
  const { text } = errorsPage();
  for (const code of errorCodes) {
    const [, anchor] = problemType(code).split('#');
    expect(text).toContain(`id="${anchor}"`);
  }
});

test('the reference page shows every endpoint, event and code, and its links have targets', () => {
  const { text, headers } = referencePage(openApiDocument());
  for (const { operationId, path } of apiOperations) {
    expect(text).toContain(`id="${operationId}"`);
    expect(text).toContain(`<code>${templateOf(path)}</code>`);
  }
  for (const type of eventTypes) expect(text).toContain(`id="${type}"`);
  for (const code of new Set(apiOperations.flatMap(codesOf))) {
    expect(text).toContain(`href="${problemType(code)}"`);
  }
  const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const [, id] of text.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(id);
  expect(headers['content-security-policy']).toContain("default-src 'none'");
});

test('the guide to the profile has every member, standard field, example and message', () => {
  const { text } = profilePage();
  for (const { member } of standardFields) expect(text).toContain(`<code>${member}</code>`);
  for (const { title } of profileExamples) expect(text).toContain(`<h3>${title}</h3>`);
  for (const { message } of profileMistakes) expect(text).toContain(message);
  for (const name of ['basics.givenName', 'files.resume.sha256', 'answers[].question']) {
    expect(text).toContain(`<td><code>${name}</code></td>`);
  }
  expect(text).toContain(`href="${applicantProfileSchemaPath}"`);
  for (const [, id] of text.matchAll(/href="#([^"]+)"/g)) expect(text).toContain(`id="${id}"`);
});

test('the schema of the profile is served as it is, and may be cached', async () => {
  const endpoint = endpoints.find(({ path }) => path === applicantProfileSchemaPath);
  if (endpoint?.access !== 'open') throw new Error('no open endpoint');
  const answer = await endpoint.handle(Object.create(null));
  if (answer.kind !== 'text') throw new Error('no text');
  expect(JSON.parse(answer.text)).toEqual(JSON.parse(JSON.stringify(applicantProfileSchema())));
  expect(answer).toMatchObject({
    status: 200,
    contentType: 'application/schema+json',
    headers: { 'cache-control': 'public, max-age=300' },
  });
});

test('the pages load no resources and run no scripts', () => {
  for (const { text } of [referencePage(openApiDocument()), errorsPage(), profilePage()]) {
    expect(text).not.toMatch(/<(?:script|img|link|iframe|object|embed)\b/i);
    expect(text).not.toMatch(/\bstyle="|\bon[a-z]+="|url\(|@import/i);
    for (const [, href] of text.matchAll(/href="([^"]+)"/g)) expect(href).toMatch(/^[#/]/);
  }
});

test('the policy allows the style sheet of the page by its hash', () => {
  for (const { text, headers } of [referencePage(openApiDocument()), errorsPage(), profilePage()]) {
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(text) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    expect(headers['content-security-policy']).toContain(`style-src 'sha256-${hash}'`);
  }
});

test('markup in a description is escaped', () => {
  const document = openApiDocument();
  const { text } = referencePage({
    ...document,
    info: { ...document.info, title: '<script>alert(1)</script>' },
  });
  expect(text).not.toContain('<script>');
  expect(text).toContain('&lt;script&gt;');
});
