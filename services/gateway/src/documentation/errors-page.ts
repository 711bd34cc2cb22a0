import { problemExample, problemMediaType } from '@svc/contracts';
import { errorCatalogue, errorCodes } from '@svc/domain';
import { html, prose } from './html.ts';
import { pagesList } from './navigation.ts';
import type { PageContent } from './page.ts';

/** The page that the `type` of a problem links to: each code of the catalogue has an anchor. */
export function errorsPage(): PageContent {
  const navigation = html`${pagesList}
    <h2>Errors</h2>
    <ul>
      ${errorCodes.map((code) => html`<li><a href="#${code}">${code}</a></li>`)}
    </ul>`;
  const entries = errorCodes.map((code) => {
    const { status, title, description } = errorCatalogue[code];
    return html`<section aria-labelledby="${code}">
      <h2 id="${code}">${title}</h2>
      <p><span class="no">${status}</span> <code>${code}</code></p>
      <p>${prose(description)}</p>
      <details>
        <summary>Example</summary>
        <pre tabindex="0"><code>${JSON.stringify(problemExample(code), null, 2)}</code></pre>
      </details>
    </section>`;
  });
  return {
    title: 'Errors of the submission service',
    navigation,
    content: html`<h1>Errors</h1>
      <p>
        Every error is a <code>${problemMediaType}</code> document (RFC 9457). Let your program
        decide by <code>code</code>, which never changes. Show <code>detail</code> to people. Quote
        <code>requestId</code> when you contact support. New codes may be added. Handle a code that
        you do not know by its status.
      </p>
      ${entries}`,
  };
}
