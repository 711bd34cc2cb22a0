import { createHash } from 'node:crypto';
import { text, type TextAnswer } from '../http/answer.ts';
import { Html, html } from './html.ts';
import { style } from './style.ts';

/** Whole, as the policy's hash is over every character between its tags. */
const styleElement = new Html(`<style>${style}</style>`);
const styleHash = createHash('sha256').update(style).digest('base64');

/**
 * Nothing but this very style sheet: no script, no image, no font, and no request to anybody. The
 * pages are made of our own document and take no input.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const maxAgeSeconds = 300;

/** A whole page: a list of its parts to jump to beside what it says. */
export function page(title: string, navigation: Html, content: Html): TextAnswer {
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
  return text(200, 'text/html; charset=utf-8', source, {
    'content-security-policy': contentSecurityPolicy,
    'cache-control': `public, max-age=${maxAgeSeconds}`,
  });
}
