import {
  applicantProfileSchema,
  applicantProfileSchemaPath,
  profileExamples,
  profileFieldKinds,
  profileMistakes,
  profileRules,
  standardFields,
} from '@svc/contracts';
import { type Html, html, prose } from './html.ts';
import { pagesList } from './navigation.ts';
import type { PageContent } from './page.ts';
import { schemaTable } from './schema-view.ts';

/** The guide to `applicantProfile` for tenants (CONTRACT 10). */
export function profilePage(): PageContent {
  const schema = applicantProfileSchema();
  const navigation = html`${pagesList}
    <ul>
      <li><a href="${applicantProfileSchemaPath}">JSON Schema</a></li>
    </ul>
    <h2>The profile</h2>
    <ul>
      <li><a href="#rules">How a form is filled</a></li>
      <li><a href="#members">Members</a></li>
      <li><a href="#fields">Standard fields</a></li>
      <li><a href="#examples">Examples</a></li>
      <li><a href="#mistakes">Messages</a></li>
    </ul>`;
  return {
    title: 'The applicant profile',
    navigation,
    content: html`<h1>The applicant profile</h1>
      <p>
        A node fills in the form of an <code>ats.application</code> from
        <code>applicantProfile</code>. It is a JSON Resume 1.x with additional members. All members
        are optional. The <a href="${applicantProfileSchemaPath}">JSON Schema</a> finds most
        mistakes before you send a profile. The service passes the profile on unchecked.
      </p>
      <h2 id="rules">How a form is filled</h2>
      <ol>
        ${profileRules.map((rule) => html`<li>${prose(rule)}</li>`)}
      </ol>
      ${table(
        ['Field', 'Answer'],
        profileFieldKinds.map(({ field, answer }) => [html`${field}`, prose(answer)]),
      )}
      <h2 id="members">Members</h2>
      <p>Members that are not in this table are allowed and have no effect.</p>
      ${schemaTable(schema, schema)}
      <h2 id="fields">Standard fields</h2>
      <p>
        Nodes know these labels and values of <code>autocomplete</code> on every page. Answer all
        other questions in <code>answers</code>.
      </p>
      ${fieldsTable()}
      <h2 id="examples">Examples</h2>
      ${profileExamples.map(
        ({ title, text, profile }) =>
          html`<h3>${title}</h3>
            <p>${prose(text)}</p>
            <pre tabindex="0"><code>${JSON.stringify(profile, null, 2)}</code></pre>`,
      )}
      <h2 id="mistakes">Messages of <code>invalid_payload</code></h2>
      <p>
        A message names labels and members, and never a value. A failed submission costs nothing.
        Correct the profile, and create a new submission with another key.
      </p>
      ${table(
        ['Message', 'Remedy'],
        profileMistakes.map(({ message, remedy }) => [html`${message}`, prose(remedy)]),
      )}`,
  };
}

function fieldsTable(): Html {
  return table(
    ['Member', 'Labels', 'autocomplete'],
    standardFields.map(({ member, labels, autocomplete }) => [
      html`<code>${member}</code>`,
      html`${labels.join(', ')}`,
      html`${autocomplete.map((token) => html`<code>${token}</code> `)}`,
    ]),
  );
}

function table(heads: readonly string[], rows: readonly (readonly Html[])[]): Html {
  return html`<div class="scroll" tabindex="0">
    <table>
      <thead>
        <tr>
          ${heads.map((head) => html`<th scope="col">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells.map((cell) => html`<td>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
