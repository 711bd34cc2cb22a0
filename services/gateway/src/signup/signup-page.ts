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

/** If the sign-up is refused, the form shows these values again. */
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
    You get a tenant with 10,000 test credits. The API is the same as in production. Simulated nodes
    run the jobs.
  </p>`;

/** `GET /signup`: the form, which works without scripts. */
export function signupPage(): TextAnswer {
  const content = html`${introduction} ${form({ name: '', webhookUrl: '' })}`;
  return personalPage({ status: 200, title: 'Sign up', navigation, content, hasForm: true });
}

const labels: Readonly<Record<string, string>> = {
  '/name': 'The name of your organisation',
  '/webhookUrl': 'The webhook URL',
};

export function refusedSignupPage(problem: ProblemAnswer, typed: Typed): TextAnswer {
  const { status, title } = errorCatalogue[problem.code];
  const errors = problem.extras.errors ?? [];
  const content = html`${introduction}
    <div role="alert">
      <p class="no">
        ${errors.length === 0 ? `${title}: ${problem.detail}` : 'Correct the following:'}
      </p>
      <ul>
        ${errors.map(({ path, message }) => html`<li>${labels[path] ?? path} ${message}.</li>`)}
      </ul>
    </div>
    ${form(typed)}`;
  const { headers } = problem;
  return personalPage({ status, title: 'Sign up', navigation, content, headers, hasForm: true });
}

export function signedUpPage(signedUp: SignupAnswer, baseUrl: string): TextAnswer {
  const title = 'Your sandbox tenant';
  const credentials = [
    ['Tenant id', signedUp.tenantId],
    ['HMAC secret', signedUp.hmacSecret],
    ['Webhook secret', signedUp.webhookSecret],
  ] as const;
  const content = html`<h1>${title}</h1>
    <p>
      <strong>Copy these secrets now.</strong> They are not shown again. You have
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
    <p>Sign your requests with the HMAC secret. Verify our webhooks with the webhook secret.</p>
    <h2>Send your first submission</h2>
    <p>
      Paste this into a shell that has <code>curl</code> and <code>openssl</code>. The response is
      <code>201</code>. If you paste it again, the response is <code>200</code>: a repeated
      idempotency key is never charged twice.
    </p>
    ${pasted('the request', firstSubmission(baseUrl, signedUp))}
    <h2>Verify a webhook</h2>
    <p>
      Save this as <code>webhook.mjs</code>. Run it with <code>node webhook.mjs</code> on a host
      that the service can reach. Then set its URL as <code>webhookUrl</code> with
      <code>PATCH /v1/settings</code>. You can also use any
      <a href="https://www.standardwebhooks.com" rel="noreferrer">Standard Webhooks</a> library.
    </p>
    ${pasted('the webhook receiver', webhookEndpoint(signedUp))}
    <p>The <a href="/docs">API reference</a> describes everything else.</p>`;
  return personalPage({ status: 201, title, navigation, content, script: copyScript });
}

/**
 * A block that a person copies. The template adds no character between its tags, so the copy is
 * exact.
 */
function pasted(name: string, text: string): Html {
  const { source } = html`${text}`;
  return new Html(
    `<pre tabindex="0" role="region" aria-label="${name}"><code data-copy="${name}">${source}</code></pre>`,
  );
}
