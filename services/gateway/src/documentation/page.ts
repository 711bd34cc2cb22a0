import { createHash } from 'node:crypto';
import { text, type TextAnswer } from '../http/answer.ts';
import { Html, html } from './html.ts';
import { style } from './style.ts';

/** Whole, as the policy's hash is over every character between its tags. */
const styleElement = new Html(`<style>${style}</style>`);
const styleHash = createHash('sha256').update(style).digest('base64');

/**
 * Nothing but this very style sheet: no script, no image, no font, and no request to anybody. What
 * stands in a page is escaped (html.ts).
 */
const contentSecurityPolicy = (formAction: "'none'" | "'self'") =>
  [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    "base-uri 'none'",
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
  ].join('; ');

const maxAgeSeconds = 300;

/** A page that is the same for everybody, with a list of its parts to jump to. */
export function page(title: string, navigation: Html, content: Html): TextAnswer {
  return text(200, mediaType, documentOf(title, navigation, content), {
    'content-security-policy': contentSecurityPolicy("'none'"),
    'cache-control': `public, max-age=${maxAgeSeconds}`,
  });
}

/** A page that answers one person, with a form or what came of it; nobody keeps a copy. */
export function personalPage(
  status: number,
  title: string,
  navigation: Html,
  content: Html,
  headers: Readonly<Record<string, string>> = {},
): TextAnswer {
  return text(status, mediaType, documentOf(title, navigation, content), {
    ...headers,
    'content-security-policy': contentSecurityPolicy("'self'"),
  });
}

const mediaType = 'text/html; charset=utf-8';

function documentOf(title: string, navigation: Html, content: Html): string {
  const { source } = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${styleElement}
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <nav aria-label="Contents">${navigation}</nav>
        <main id="content">${content}</main>
      </body>
    </html> `;
  return source;
}
