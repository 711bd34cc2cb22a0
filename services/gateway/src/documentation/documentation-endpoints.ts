import {
  applicantProfileSchema,
  applicantProfileSchemaPath,
  openApiDocument,
  profileGuidePath,
} from '@svc/contracts';
import { text, type TextAnswer } from '../http/answer.ts';
import type { OpenEndpoint } from '../http/endpoint.ts';
import { errorsPage } from './errors-page.ts';
import { publicCaching } from './page.ts';
import { profilePage } from './profile-page.ts';
import { referencePage } from './reference-page.ts';

/**
 * The OpenAPI document, its reference page and the page of errors (CONTRACT 5), and the schema and
 * guide of the applicant profile (CONTRACT 10). All are rendered once, at start. The reference page is generated here, because the available renderer
 * packages load scripts from other hosts or bring megabytes of them, and all need `unsafe-inline`.
 */
export function documentationEndpoints(): readonly OpenEndpoint[] {
  const document = openApiDocument();
  return [
    fixed('/openapi.json', text(200, 'application/json', JSON.stringify(document))),
    fixed('/docs', referencePage(document)),
    fixed('/docs/errors', errorsPage()),
    fixed(profileGuidePath, profilePage()),
    fixed(applicantProfileSchemaPath, schemaAnswer()),
  ];
}

function schemaAnswer(): TextAnswer {
  const schema = JSON.stringify(applicantProfileSchema(), null, 2);
  return text(200, 'application/schema+json', schema, publicCaching);
}

function fixed(path: string, answer: TextAnswer): OpenEndpoint {
  return { access: 'open', method: 'get', path, handle: async () => answer };
}
