import { openApiDocument } from '@svc/contracts';
import { text, type TextAnswer } from '../http/answer.ts';
import type { OpenEndpoint } from '../http/endpoint.ts';
import { errorsPage } from './errors-page.ts';
import { referencePage } from './reference-page.ts';

/**
 * The OpenAPI document, the page to read it in and the page of errors (CONTRACT 5). All
 * are made once, at start. The reference is a page of our own: renderers that come as packages
 * bring scripts that load from elsewhere, or megabytes of them, and none can do without
 * `unsafe-inline`.
 */
export function documentationEndpoints(): readonly OpenEndpoint[] {
  const document = openApiDocument();
  return [
    fixed('/openapi.json', text(200, 'application/json', JSON.stringify(document))),
    fixed('/docs', referencePage(document)),
    fixed('/docs/errors', errorsPage()),
  ];
}

function fixed(path: string, answer: TextAnswer): OpenEndpoint {
  return { access: 'open', method: 'get', path, handle: async () => answer };
}
