import {
  itemsOf,
  memberOf,
  membersOf,
  type OpenApiDocument,
  resolveRef,
  textOf,
} from '@svc/contracts';
import { type Html, html, prose } from './html.ts';
import { pagesList } from './navigation.ts';
import type { PageContent } from './page.ts';
import { schemaTable, typeOf } from './schema-view.ts';

interface Operation {
  readonly id: string;
  readonly verb: string;
  readonly path: string;
  readonly summary: string;
  readonly object: unknown;
}

export function referencePage(document: OpenApiDocument): PageContent {
  const groups = document.tags.map((tag) => ({
    tag,
    operations: operationsOf(document.paths, tag.name),
  }));
  const events = Object.entries(document.webhooks).map(([type, object]) => ({ type, object }));
  const navigation = html`${pagesList}
    <ul>
      <li><a href="/openapi.json">OpenAPI document</a></li>
      <li><a href="#signing">Signing</a></li>
    </ul>
    ${groups.map(
      ({ tag, operations }) =>
        html`<h2>${tag.name}</h2>
          <ul>
            ${operations.map(({ id, verb, path }) => html`<li><a href="#${id}">${verb} ${path}</a></li>`)}
          </ul>`,
    )}
    <h2>Webhook events</h2>
    <ul>
      ${events.map(({ type }) => html`<li><a href="#${type}">${type}</a></li>`)}
    </ul>`;
  return {
    title: `${document.info.title}: API reference`,
    navigation,
    content: html`<h1>${document.info.title}</h1>
      <p>${prose(document.info.description)}</p>
      <p>New here? Begin with the <a href="/docs/guides/quick-start">quick start</a>.</p>
      ${signingSection(document)}
      ${groups.map(
        ({ tag, operations }) =>
          html`<h2>${tag.name}</h2>
            <p>${prose(tag.description)}</p>
            ${operations.map((operation) => operationSection(document, operation))}`,
      )}
      <h2>Webhook events</h2>
      ${events.map(({ type, object }) => eventSection(document, type, object))}`,
  };
}

function operationsOf(paths: OpenApiDocument['paths'], tag: string): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, object]) =>
      itemsOf(memberOf(object, 'tags')).includes(tag)
        ? [
            {
              id: textOf(memberOf(object, 'operationId')),
              verb: method.toUpperCase(),
              path,
              summary: textOf(memberOf(object, 'summary')),
              object,
            },
          ]
        : [],
    ),
  );
}

function signingSection({ components }: OpenApiDocument): Html {
  const rows = membersOf(memberOf(components, 'securitySchemes')).map(
    ([, scheme]) =>
      html`<tr>
        <td><code>${textOf(memberOf(scheme, 'name'))}</code></td>
        <td>${prose(textOf(memberOf(scheme, 'description')))}</td>
      </tr>`,
  );
  return html`<h2 id="signing">Signing</h2>
    <p>Three headers sign a request: the sender's id, the time, and the signature.</p>
    <div class="scroll" tabindex="0">
      <table>
        <thead>
          <tr>
            <th scope="col">Header</th>
            <th scope="col">Value</th>
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>`;
}

function operationSection(document: OpenApiDocument, operation: Operation): Html {
  const { id, verb, path, summary, object } = operation;
  const content = membersOf(memberOf(memberOf(object, 'requestBody'), 'content'));
  const signers = itemsOf(memberOf(object, 'security')).flatMap((one) =>
    membersOf(one).map(([name]) => name),
  );
  return html`<section aria-labelledby="${id}">
    <h3 id="${id}">${summary}</h3>
    <p class="route"><span class="verb">${verb}</span> <code>${path}</code></p>
    <p class="quiet">
      ${signers.length === 0 ? 'Needs no signature.' : `Signed by ${article(signers[0] ?? '')}.`}
    </p>
    <p>${prose(textOf(memberOf(object, 'description')))}</p>
    ${parametersTable(document, itemsOf(memberOf(object, 'parameters')))}
    ${content.map(
      ([mediaType, body]) =>
        html`<h4>Body <span class="quiet">${mediaType}</span></h4>
          ${schemaTable(document, memberOf(body, 'schema'))} ${examplesOf(body)}`,
    )}
    ${responsesView(document, memberOf(object, 'responses'))}
  </section>`;
}

function article(signer: string): string {
  return `${signer === 'operator' ? 'an' : 'a'} ${signer}`;
}

function parametersTable(document: OpenApiDocument, parameters: readonly unknown[]): Html {
  if (parameters.length === 0) return html``;
  return html`<h4>Parameters</h4>
    <div class="scroll" tabindex="0">
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">In</th>
            <th scope="col">Type</th>
            <th scope="col">Notes</th>
          </tr>
        </thead>
        <tbody>
          ${parameters.map(
            (parameter) =>
              html`<tr>
                <td><code>${textOf(memberOf(parameter, 'name'))}</code></td>
                <td>${textOf(memberOf(parameter, 'in'))}</td>
                <td>${typeOf(document, memberOf(parameter, 'schema'))}</td>
                <td>${prose(textOf(memberOf(parameter, 'description')))}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}

function responsesView(document: OpenApiDocument, responses: unknown): Html {
  const all = membersOf(responses).map(([status, response]) => ({
    status,
    response: resolveRef(document, response),
  }));
  const answers = all.filter(({ response }) => !isProblem(response));
  const problems = all.filter(({ response }) => isProblem(response));
  return html`${answers.map(
      ({ status, response }) =>
        html`<h4>Response <span class="ok">${status}</span></h4>
          <p>${prose(textOf(memberOf(response, 'description')))}</p>
          ${membersOf(memberOf(response, 'content')).map(
            ([, body]) =>
              html`${schemaTable(document, memberOf(body, 'schema'))}${examplesOf(body)}`,
          )}`,
    )}
    <h4>Errors</h4>
    <ul>
      ${problems.map(
        ({ status, response }) =>
          html`<li>
            <span class="no">${status}</span> ${codesOf(response).map(
              (code) => html`<a href="/docs/errors#${code}"><code>${code}</code></a> `,
            )}
          </li>`,
      )}
    </ul>`;
}

const problemContent = 'application/problem+json';

function isProblem(response: unknown): boolean {
  return memberOf(memberOf(response, 'content'), problemContent) !== undefined;
}

function codesOf(response: unknown): string[] {
  const body = memberOf(memberOf(response, 'content'), problemContent);
  return membersOf(memberOf(body, 'examples')).map(([code]) => code);
}

function eventSection(document: OpenApiDocument, type: string, webhook: unknown): Html {
  const post = memberOf(webhook, 'post');
  const content = memberOf(memberOf(post, 'requestBody'), 'content');
  const body = memberOf(content, 'application/json');
  return html`<section aria-labelledby="${type}">
    <h3 id="${type}"><code>${type}</code></h3>
    <p>${textOf(memberOf(post, 'summary'))}. ${prose(textOf(memberOf(post, 'description')))}</p>
    ${schemaTable(document, memberOf(body, 'schema'))} ${examplesOf(body)}
  </section>`;
}

function examplesOf(body: unknown): Html {
  const values = [
    memberOf(body, 'example'),
    ...membersOf(memberOf(body, 'examples')).map(([, example]) => memberOf(example, 'value')),
  ].filter((value) => value !== undefined);
  return html`${values.map(
    (value) => html`<pre tabindex="0"><code>${JSON.stringify(value, null, 2)}</code></pre>`,
  )}`;
}
