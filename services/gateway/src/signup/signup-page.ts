import type { SignupAnswer } from '@svc/contracts';
import { errorCatalogue } from '@svc/domain';
import { Html, html } from '../documentation/html.ts';
import { personalPage } from '../documentation/page.ts';
import type { ProblemAnswer, TextAnswer } from '../http/answer.ts';
import { copyScript } from './copy-script.ts';
import { firstSubmission, webhookEndpoint } from './first-steps.ts';

const navigation = html`<ul>
  <li><a href="/signup">Sign up</a></li>
  <li><a href="/docs">Reference</a></li>
  <li><a href="/docs/errors">Errors</a></li>
</ul>`;

/** What a person has typed, to be shown again where it was refused. */
export interface Typed {
  readonly name: string;
  readonly webhookUrl: string;
}

const form = ({ name, webhookUrl }: Typed) =>
  html`<form method="post" action="/signup">
    <label for="name">Name of your organisation</label>
    <input
      id="name"
      name="name"
      required
      maxlength="128"
      autocomplete="organization"
      value="${name}"
    />
    <label for="webhookUrl">Webhook URL <span class="quiet">(optional, https)</span></label>
    <input id="webhookUrl" name="webhookUrl" type="url" maxlength="2048" value="${webhookUrl}" />
    <button type="submit">Sign up</button>
  </form>`;

const introduction = html`<h1>Sign up for the sandbox</h1>
  <p>
    You get a tenant with 10,000 credits to try everything with: the same API as in production, with
    simulated nodes.
  </p>`;

/** `GET /signup`: the form, which works without scripts. */
export function signupPage(): TextAnswer {
  const content = html`${introduction} ${form({ name: '', webhookUrl: '' })}`;
  return personalPage({ status: 200, title: 'Sign up', navigation, content });
}

/** What the fields of the form are called, by where they are in the body. */
const labels: Readonly<Record<string, string>> = {
  '/name': 'The name of your organisation',
  '/webhookUrl': 'The webhook URL',
};

/** The form again, with what was wrong, under the status of the problem. */
export function refusedSignupPage(problem: ProblemAnswer, typed: Typed): TextAnswer {
  const { status, title } = errorCatalogue[problem.code];
  const errors = problem.extras.errors ?? [];
  const content = html`${introduction}
    <div role="alert">
      <p class="no">
        ${errors.length === 0 ? `${title}: ${problem.detail}` : 'Please correct this:'}
      </p>
      <ul>
        ${errors.map(({ path, message }) => html`<li>${labels[path] ?? path} ${message}.</li>`)}
      </ul>
    </div>
    ${form(typed)}`;
  const { headers } = problem;
  return personalPage({ status, title: 'Sign up', navigation, content, headers });
}

/** The credentials, once, and what to paste to see the service work. */
export function signedUpPage(signedUp: SignupAnswer, baseUrl: string): TextAnswer {
  const title = 'Your sandbox tenant';
  const credentials = [
    ['Tenant id', signedUp.tenantId],
    ['HMAC secret', signedUp.hmacSecret],
    ['Webhook secret', signedUp.webhookSecret],
  ] as const;
  const content = html`<h1>${title}</h1>
    <p>
      <strong>Copy these now:</strong> the secrets are shown this once. You have
      ${signedUp.balance.toLocaleString('en')} credits.
    </p>
    <p id="copied" role="status"></p>
    <dl>
      ${credentials.map(
        ([name, value]) =>
          html`<dt>${name}</dt>
            <dd><code data-copy="${name}">${value}</code></dd>`,
      )}
    </dl>
    <p>
      The HMAC secret signs your requests, the webhook secret verifies ours. They are not
      interchangeable.
    </p>
    <h2>Send your first submission</h2>
    <p>
      Paste this into a shell with <code>curl</code> and <code>openssl</code>. The answer is
      <code>201</code>; pasted again it is <code>200</code>, as a repeated key is never charged
      twice.
    </p>
    ${pasted('the request', firstSubmission(baseUrl, signedUp))}
    <h2>Verify a webhook</h2>
    <p>
      Save this as <code>webhook.mjs</code>, run it with <code>node webhook.mjs</code> where the
      service can reach it, and set its address as <code>webhookUrl</code> by
      <code>PATCH /v1/settings</code>. Any library of
      <a href="https://www.standardwebhooks.com" rel="noreferrer">Standard Webhooks</a> does the
      same.
    </p>
    ${pasted('the webhook endpoint', webhookEndpoint(signedUp))}
    <p>The <a href="/docs">reference</a> says the rest.</p>`;
  return personalPage({ status: 201, title, navigation, content, script: copyScript });
}

/** A block to be pasted as it is: not a character may come between its tags. */
function pasted(name: string, text: string): Html {
  const { source } = html`${text}`;
  return new Html(
    `<pre tabindex="0" role="region" aria-label="${name}"><code data-copy="${name}">${source}</code></pre>`,
  );
}
