import { createHash } from 'node:crypto';
import { type Answer, type Field, fields } from './form.ts';
import { html, type Html } from './html.ts';
import { style } from './style.ts';

/** A received application. The bytes of the uploaded file are not kept. */
export interface Application {
  readonly number: string;
  readonly at: Date;
  readonly answers: readonly Answer[];
  readonly file: { readonly name: string; readonly bytes: number; readonly sha256: string };
}

export const company = 'Example Engines';
export const jobTitle = 'Analyst';
export const formPath = '/jobs/analyst';

/**
 * A `GET` of this path answers with a number. It counts the forms that were posted since the demo
 * employer started.
 */
export const countPath = '/count';
const pollMs = 1_000;

const script = `
const { count } = document.body.dataset;
setInterval(async () => {
  const answer = await fetch('${countPath}').catch(() => undefined);
  if (answer?.ok && (await answer.text()) !== count) location.reload();
}, ${pollMs});
`;

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/**
 * A page loads nothing from other hosts, and no site may show it in a frame. The style sheet and
 * the script are allowed by their hashes.
 */
export const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src ${hashOf(style)}`,
  `script-src ${hashOf(script)}`,
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * These elements are not `html` templates, because the code formatter changes the text of such a
 * template. The text would then not match its hash.
 */
const styleElement: Html = { source: `<style>${style}</style>` };
const scriptElement: Html = { source: `<script>${script}</script>` };

interface Page {
  readonly title: string;
  readonly subtitle: string;
  readonly body: Html;
  /**
   * The number of posted forms when the page was built. If `count` is set, the page reloads when
   * `countPath` answers with another number.
   */
  readonly count?: number;
}

function page({ title, subtitle, body, count }: Page): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${styleElement}
      </head>
      <body data-count="${count ?? ''}">
        <header>
          <div>
            <h1>${title}</h1>
            <p>${subtitle}</p>
          </div>
        </header>
        <main>${body}</main>
        ${count === undefined ? html`` : scriptElement}
      </body>
    </html> `.source;
}

export function inboxPage(applications: readonly Application[], requests: number): string {
  const isEmpty = applications.length === 0;
  const body = isEmpty
    ? html`<section class="card empty">
        <h2>No application has arrived yet</h2>
        <p class="quiet">
          The demo submission of <code>npm start</code> arrives here. This page then reloads.
        </p>
      </section>`
    : html`${applications.map(applicationCard)}`;
  const arrived = requests === 1 ? '1 request has' : `${requests} requests have`;
  return page({
    title: `${company}: applications`,
    subtitle:
      'A demo employer on this machine. The node of the demo applies here with a real browser.',
    count: requests,
    body: html`${body}
      <p class="quiet">
        ${arrived} sent a form since the start.
        <a href="${formPath}">Look at the empty form</a>
      </p>`,
  });
}

function applicationCard({ number, at, answers, file }: Application): Html {
  const name = answers
    .slice(0, 2)
    .map(({ value }) => value)
    .join(' ');
  return html`<section class="card">
    <h2>${name}</h2>
    <p class="quiet">
      ${jobTitle} · <span class="badge">${number}</span> · arrived ${at.toISOString()}
    </p>
    <dl>
      ${answers.map(
        ({ label, value }) =>
          html`<dt>${label}</dt>
            <dd class="text">${value}</dd>`,
      )}
      <dt>Resume</dt>
      <dd>
        ${file.name}, ${file.bytes.toLocaleString('en')} bytes<br /><code
          >SHA-256 ${file.sha256}</code
        >
      </dd>
    </dl>
  </section>`;
}

export function formPage(missing: readonly string[] = []): string {
  const complaint =
    missing.length === 0
      ? html``
      : html`<p class="required" role="alert">Please answer: ${missing.join(', ')}</p>`;
  return page({
    title: jobTitle,
    subtitle: `${company} · London, Turin or at home`,
    body: html`<section class="card">
      <h2>Apply for this job</h2>
      <p class="quiet">Fields marked with <span class="required">*</span> are required.</p>
      ${complaint}
      <form method="post" action="${formPath}" enctype="multipart/form-data">
        ${fields.map(control)}
        <button type="submit">Submit application</button>
      </form>
    </section>`,
  });
}

function control(field: Field): Html {
  const { name, label, isRequired } = field;
  const required = { source: isRequired ? ' required' : '' };
  const mark = isRequired ? html`<span class="required" aria-hidden="true"> *</span>` : html``;
  const caption = html`<span>${label}${mark}</span>`;
  switch (field.kind) {
    case 'textarea':
      return html`<label>${caption}<textarea name="${name}" ${required}></textarea></label>`;
    case 'select':
      return html`<label
        >${caption}<select name="${name}" ${required}>
          <option value="">Please choose</option>
          ${field.options.map((option) => html`<option>${option}</option>`)}
        </select></label
      >`;
    case 'radio':
      return html`<fieldset>
        <legend>${label}${mark}</legend>
        ${field.options.map((option) => html`<label><input type="radio" name="${name}" value="${option}" ${required} />${option}</label>`)}
      </fieldset>`;
    case 'checkbox':
      return html`<label class="check"
        ><input type="checkbox" name="${name}" value="yes" ${required} />${caption}</label
      >`;
    case 'file':
      return html`<label
        >${caption}<input type="file" name="${name}" accept=".pdf,.txt" ${required}
      /></label>`;
    case 'text':
    case 'email':
    case 'tel':
    case 'url':
    case 'date':
      return html`<label
        >${caption}<input
          type="${field.kind}"
          name="${name}"
          autocomplete="${field.autocomplete ?? 'off'}"
          ${required}
      /></label>`;
  }
}

export function thanksPage(number: string): string {
  return page({
    title: 'Thank you for applying',
    subtitle: `${company} · ${jobTitle}`,
    body: html`<section class="card">
      <h2>Your application has been received</h2>
      <p>Your confirmation number is <span class="badge">${number}</span>.</p>
    </section>`,
  });
}
