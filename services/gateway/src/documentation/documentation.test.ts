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
import type { TextAnswer } from '../http/answer.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { errorsPage } from './errors-page.ts';
import { guides } from './guides.ts';
import { page } from './page.ts';
import { profilePage } from './profile-page.ts';
import { referencePage } from './reference-page.ts';
import { renderMarkdown } from './render-markdown.ts';

// The tests call only endpoints that use no dependencies.
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
  const { text } = page(errorsPage());
  for (const code of errorCodes) {
    const [, anchor] = problemType(code).split('#');
    expect(text).toContain(`id="${anchor}"`);
  }
});

test('the reference page shows every endpoint, event and code, and its links have targets', () => {
  const { text, headers } = page(referencePage(openApiDocument()));
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
  const { text } = page(profilePage());
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

async function read(target: string): Promise<TextAnswer> {
  const endpoint = endpoints.find(({ path }) =>
    path.endsWith('/:guide') ? target.startsWith('/docs/guides/') : path === target,
  );
  if (endpoint?.access !== 'open') throw new Error(`no open endpoint for ${target}`);
  const answer = await endpoint.handle({
    ...Object.create(null),
    id: target.split('/').at(-1),
    baseUrl: 'http://gateway.test:8080',
  });
  if (answer.kind !== 'text') throw new Error(`no text at ${target}`);
  return answer;
}

const pages = [
  '/docs',
  '/docs/errors',
  '/docs/applicant-profile',
  '/docs/changelog',
  ...guides.map(({ path }) => path),
];

test.each(pages)(
  '%s loads no resources, runs no scripts, and its links have targets',
  async (path) => {
    const { text } = await read(path);
    expect(text).not.toMatch(/<(?:script|img|link|iframe|object|embed)\b/i);
    expect(text).not.toMatch(/\bstyle="|\bon[a-z]+="|url\(|@import/i);
    const hrefs = [...text.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href);
    const onPage = hrefs.filter((href) => href.startsWith('#')).map((href) => href.slice(1));
    expect(onPage.filter((id) => !text.includes(`id="${id}"`))).toEqual([]);
    const served = new Set([...pages, ...endpoints.map((endpoint) => endpoint.path)]);
    const others = hrefs.filter((href) => !/^(?:#|https:)/.test(href));
    expect(others.filter((href) => !served.has(href.split('#')[0] ?? ''))).toEqual([]);
  },
);

test.each(pages)(
  'the policy of %s allows its style sheet by its hash, and nothing else',
  async (path) => {
    const { text, headers } = await read(path);
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(text) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
  },
);

const headingsOf = (source: string, pattern: RegExp) =>
  [...source.matchAll(pattern)].map(([, title = '']) => title.replaceAll(/<[^>]*>|`/g, '').trim());

const plain = (title: string) => title.replaceAll(/&(?:#39|quot|amp);|['"&]|\s+/g, ' ').trim();

test.each(pages)('%s is also Markdown with the same headings', async (path) => {
  const { text, contentType } = await read(`${path}.md`);
  expect(contentType).toBe('text/markdown; charset=utf-8');
  const shown = headingsOf(
    (await read(path)).text.split('<main')[1] ?? '',
    /<h[1-4][^>]*>(.*?)<\/h[1-4]>/gs,
  );
  const withoutCode = text.replaceAll(/^```[^]*?^```$/gm, '');
  expect(headingsOf(withoutCode, /^#{1,4} (.*)$/gm).map(plain)).toEqual(
    shown.map((title) => plain(title.replaceAll(/\s+/g, ' '))),
  );
  expect(withoutCode).not.toMatch(/<\/?(?:p|li|td|code|pre|h[1-4])\b|&quot;|&lt;/);
});

const byText = (one: string, other: string) => one.localeCompare(other);

test('the index has one line for each page, at the address of the reader', async () => {
  const { text } = await read('/llms.txt');
  const targets = [...text.matchAll(/^- \[[^\]]+\]\(http:\/\/gateway\.test:8080([^)]+)\): \S/gm)];
  expect(targets.map(([, target = '']) => target).toSorted(byText)).toEqual(
    pages.map((path) => `${path}.md`).toSorted(byText),
  );
});

test('a guide shows the address at which its reader reached the service, and is not shared', async () => {
  for (const target of ['/docs/guides/quick-start', '/docs/guides/quick-start.md']) {
    const { text, headers } = await read(target);
    expect(text).toContain('export SVC_URL=http://gateway.test:8080\n');
    expect(text).not.toContain('svc.example.com');
    expect(headers['cache-control']).toBe('private, max-age=300');
  }
});

test('a guide that does not exist is not found', async () => {
  await expect(read('/docs/guides/none')).rejects.toThrow('no text');
});

test('the markup of guides is rendered: none of it is left outside code', () => {
  for (const { source } of guides) {
    const text = renderMarkdown(source).content.source.replaceAll(/<(pre|code)\b[^]*?<\/\1>/g, '');
    expect(text).not.toMatch(/\*\*|`|\]\(|^#|\| ---/m);
  }
});

test('markup in a description is escaped', () => {
  const document = openApiDocument();
  const { text } = page(
    referencePage({
      ...document,
      info: { ...document.info, title: '<script>alert(1)</script>' },
    }),
  );
  expect(text).not.toContain('<script>');
  expect(text).toContain('&lt;script&gt;');
});
