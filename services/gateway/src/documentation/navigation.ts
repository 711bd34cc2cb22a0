import { profileGuidePath } from '@svc/contracts';
import { guides } from './guides.ts';
import { html } from './html.ts';

export const pagesList = html`<h2>Guides</h2>
  <ul>
    ${guides.map(({ path, title }) => html`<li><a href="${path}">${title}</a></li>`)}
  </ul>
  <h2>Reference</h2>
  <ul>
    <li><a href="/docs">API</a></li>
    <li><a href="/docs/errors">Errors</a></li>
    <li><a href="${profileGuidePath}">Applicant profile</a></li>
    <li><a href="/docs/changelog">Changelog</a></li>
  </ul>`;
