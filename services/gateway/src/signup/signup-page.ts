import type { SignupAnswer } from '@svc/contracts';
import { errorCatalogue } from '@svc/domain';
import { html } from '../documentation/html.ts';
import { personalPage } from '../documentation/page.ts';
import type { ProblemAnswer, TextAnswer } from '../http/answer.ts';

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
  return personalPage(200, 'Sign up', navigation, content);
}

/** The form again, with what was wrong, under the status of the problem. */
export function refusedSignupPage(problem: ProblemAnswer, typed: Typed): TextAnswer {
  const { status, title } = errorCatalogue[problem.code];
  const errors = problem.extras.errors ?? [];
  const content = html`${introduction}
    <div role="alert">
      <p class="no">${title}: ${problem.detail}</p>
      <ul>
        ${errors.map(({ path, message }) => html`<li><code>${path}</code> ${message}</li>`)}
      </ul>
    </div>
    ${form(typed)}`;
  return personalPage(status, 'Sign up', navigation, content, problem.headers);
}

/** The credentials, once. */
export function signedUpPage(signedUp: SignupAnswer): TextAnswer {
  const { tenantId, hmacSecret, webhookSecret, balance } = signedUp;
  const content = html`<h1>Your sandbox tenant</h1>
    <p>
      <strong>Copy these now:</strong> the secrets are shown this once. You have ${balance} credits.
    </p>
    <table>
      <tbody>
        <tr>
          <th scope="row">Tenant id</th>
          <td><code>${tenantId}</code></td>
        </tr>
        <tr>
          <th scope="row">HMAC secret</th>
          <td><code>${hmacSecret}</code></td>
        </tr>
        <tr>
          <th scope="row">Webhook secret</th>
          <td><code>${webhookSecret}</code></td>
        </tr>
      </tbody>
    </table>
    <p>
      The HMAC secret signs your requests, the webhook secret verifies ours; the
      <a href="/docs">reference</a> says how.
    </p>`;
  return personalPage(201, 'Your sandbox tenant', navigation, content);
}
