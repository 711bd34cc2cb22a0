import { createHash } from 'node:crypto';
import { text, type TextAnswer } from '../http/answer.ts';
import { Html, html } from './html.ts';
import { style } from './style.ts';

/** Whole, as the policy's hash is over every character between its tags. */
const styleElement = new Html(`<style>${style}</style>`);
const styleHash = sha256(style);

/**
 * Nothing but this very style sheet, and where a page has one this very script: no image, no font,
 * and no request to anybody. What stands in a page is escaped (html.ts).
 */
const contentSecurityPolicy = (formAction: "'none'" | "'self'", script: string) =>
  [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    ...(script === '' ? [] : [`script-src 'sha256-${sha256(script)}'`]),
    "base-uri 'none'",
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
  ].join('; ');

const maxAgeSeconds = 300;

/** A page that is the same for everybody, with a list of its parts to jump to. */
export function page(title: string, navigation: Html, content: Html): TextAnswer {
  return text(200, mediaType, documentOf(title, navigation, content), {
    'content-security-policy': contentSecurityPolicy("'none'", ''),
    'cache-control': `public, max-age=${maxAgeSeconds}`,
  });
}

export interface PersonalPage {
  readonly status: number;
  readonly title: string;
  readonly navigation: Html;
  readonly content: Html;
  readonly headers?: Readonly<Record<string, string>>;
  /** Runs once the page is there; a page says everything without it too. */
  readonly script?: string;
}

/** A page that answers one person, with a form or what came of it; nobody keeps a copy. */
export function personalPage(shown: PersonalPage): TextAnswer {
  const { status, title, navigation, content, headers = {}, script = '' } = shown;
  const whole = documentOf(title, navigation, content, script);
  return text(status, mediaType, whole, {
    ...headers,
    'content-security-policy': contentSecurityPolicy("'self'", script),
  });
}

function sha256(source: string): string {
  return createHash('sha256').update(source).digest('base64');
}

const mediaType = 'text/html; charset=utf-8';

function documentOf(title: string, navigation: Html, content: Html, script = ''): string {
  const scripts = script === '' ? [] : [new Html(`<script>${script}</script>`)];
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
        ${scripts}
      </body>
    </html> `;
  return source;
}
