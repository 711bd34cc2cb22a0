import { readFileSync } from 'node:fs';
import path from 'node:path';
import { guidesPath } from '@svc/contracts';
import { notFound, text, type TextAnswer } from '../http/answer.ts';
import type { OpenEndpoint } from '../http/endpoint.ts';
import { baseUrlShown, type Guide, guides } from './guides.ts';
import { html } from './html.ts';
import { pagesList } from './navigation.ts';
import { once } from './once.ts';
import { page, type PageContent, publicCaching } from './page.ts';
import { renderMarkdown } from './render-markdown.ts';

const markdownType = 'text/markdown; charset=utf-8';
/**
 * The caching header for texts that contain the reader's base URL. Shared caches must not keep
 * these texts.
 */
const privateCaching = { 'cache-control': 'private, max-age=300' };
const markdownSuffix = '.md';

export function markdown(source: string): TextAnswer {
  return text(200, markdownType, source, publicCaching);
}

function guidePage({ title, source }: Guide): TextAnswer {
  const { content, sections } = renderMarkdown(source);
  const links = sections.map(
    (section) => html`<li><a href="#${section.id}">${section.title}</a></li>`,
  );
  const navigation = html`${pagesList}
    <h2>On this page</h2>
    <ul>
      ${links}
    </ul>`;
  return page({ title, navigation, content });
}

export function guideEndpoint(): OpenEndpoint {
  const answers = new Map<string, () => TextAnswer>(
    guides.flatMap((guide) => [
      [guide.slug, once(() => guidePage(guide))],
      [`${guide.slug}${markdownSuffix}`, () => markdown(guide.source)],
    ]),
  );
  return {
    access: 'open',
    method: 'get',
    path: `${guidesPath}/:guide`,
    async handle({ id, baseUrl }) {
      const answer = answers.get(id);
      return answer === undefined ? notFound : addressed(answer(), baseUrl);
    },
  };
}

export interface IndexEntry {
  readonly path: string;
  readonly title: string;
  readonly summary: string;
}

/**
 * The index for language models (llmstxt.org): one line for each guide and each page in `pages`.
 */
export function indexEndpoint(pages: readonly IndexEntry[]): OpenEndpoint {
  const index = once(() => {
    const entries = guides.map((guide) => ({
      path: guide.path,
      title: guide.title,
      summary: renderMarkdown(guide.source).summary,
    }));
    return text(200, 'text/plain; charset=utf-8', indexOf(entries, pages));
  });
  return {
    access: 'open',
    method: 'get',
    path: '/llms.txt',
    handle: async ({ baseUrl }) => addressed(index(), baseUrl),
  };
}

function indexOf(entries: readonly IndexEntry[], pages: readonly IndexEntry[]): string {
  const line = (entry: IndexEntry) =>
    `- [${entry.title}](${baseUrlShown}${entry.path}${markdownSuffix}): ${entry.summary}`;
  return `# Submission service

> Send typed jobs over REST, pay with prepaid credits, and receive the results as signed webhooks.

The OpenAPI 3.1 document is ${baseUrlShown}/openapi.json.

## Guides

${entries.map(line).join('\n')}

## Reference

${pages.map(line).join('\n')}
`;
}

function addressed(answer: TextAnswer, baseUrl: string): TextAnswer {
  return {
    ...answer,
    text: answer.text.replaceAll(baseUrlShown, baseUrl),
    headers: { ...answer.headers, ...privateCaching },
  };
}

const changelogFile = path.resolve(import.meta.dirname, '../../../../CHANGELOG.md');

export function changelogPage(): PageContent & { readonly source: string } {
  const source = readFileSync(changelogFile, 'utf8');
  const { content } = renderMarkdown(source);
  return { title: 'Changelog', navigation: pagesList, content, source };
}
