import {
  applicantProfileSchema,
  applicantProfileSchemaPath,
  openApiDocument,
  profileGuidePath,
} from '@svc/contracts';
import { text, type TextAnswer } from '../http/answer.ts';
import type { OpenEndpoint } from '../http/endpoint.ts';
import { errorsPage } from './errors-page.ts';
import {
  changelogPage,
  guideEndpoint,
  indexEndpoint,
  type IndexEntry,
  markdown,
} from './guide-pages.ts';
import { once } from './once.ts';
import { page, type PageContent, publicCaching } from './page.ts';
import { profilePage } from './profile-page.ts';
import { referencePage } from './reference-page.ts';
import { markdownOf } from './to-markdown.ts';

/**
 * The documentation (CONTRACT 5 and 10, decision 11). Each answer is rendered at its first request,
 * so that the gateway starts sooner.
 */
export function documentationEndpoints(): readonly OpenEndpoint[] {
  const document = once(openApiDocument);
  const pages: readonly Reference[] = [
    {
      path: '/docs',
      title: 'API reference',
      summary: 'Every endpoint and webhook event, with schemas and examples.',
      show: () => referencePage(document()),
    },
    {
      path: '/docs/errors',
      title: 'Errors',
      summary: 'Every error code, with its status, its meaning and an example.',
      show: errorsPage,
    },
    {
      path: profileGuidePath,
      title: 'Applicant profile',
      summary: 'The members of `applicantProfile`, and how nodes fill in forms with them.',
      show: profilePage,
    },
    {
      path: '/docs/changelog',
      title: 'Changelog',
      summary: 'The changes of each version.',
      show: changelogPage,
    },
  ];
  return [
    fixed('/openapi.json', () => text(200, 'application/json', JSON.stringify(document()))),
    ...pages.flatMap(({ path, show }) => [
      fixed(path, () => page(show())),
      fixed(`${path}.md`, () => markdownAnswer(show())),
    ]),
    guideEndpoint(),
    indexEndpoint(pages),
    fixed(applicantProfileSchemaPath, schemaAnswer),
  ];
}

interface Reference extends IndexEntry {
  /** `source` is the Markdown of the page. Undefined if the page is not made from Markdown. */
  readonly show: () => PageContent & { readonly source?: string };
}

function markdownAnswer({ source, content }: ReturnType<Reference['show']>): TextAnswer {
  return markdown(source ?? markdownOf(content));
}

function schemaAnswer(): TextAnswer {
  const schema = JSON.stringify(applicantProfileSchema(), null, 2);
  return text(200, 'application/schema+json', schema, publicCaching);
}

function fixed(path: string, make: () => TextAnswer): OpenEndpoint {
  const answer = once(make);
  return { access: 'open', method: 'get', path, handle: async () => answer() };
}
