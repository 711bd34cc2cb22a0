import { createHash } from 'node:crypto';
import { text, type TextAnswer } from '../http/answer.ts';
import { Html, html } from './html.ts';
import { style } from './style.ts';

/**
 * The style element has no whitespace around the style, because the hash in the header
 * `content-security-policy` covers every character between the tags.
 */
const styleElement = new Html(`<style>${style}</style>`);
const styleHash = sha256(style);

/**
 * The policy allows only `style` and `script`, each by its hash, and forms that are sent to
 * `formAction`. `script` is empty for a page without a script.
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

/** The caching header for answers that are the same for every reader. */
export const publicCaching = { 'cache-control': `public, max-age=${maxAgeSeconds}` };

export interface PageContent {
  readonly title: string;
  readonly navigation: Html;
  readonly content: Html;
}

/**
 * Makes a page with the header `publicCaching`. For a guide, `addressed` in guide-pages.ts replaces
 * this header.
 */
export function page({ title, navigation, content }: PageContent): TextAnswer {
  return text(200, mediaType, documentOf(title, navigation, content), {
    'content-security-policy': contentSecurityPolicy("'none'", ''),
    ...publicCaching,
  });
}

export interface PersonalPage {
  readonly status: number;
  readonly title: string;
  /** If omitted, the page has one column. */
  readonly navigation?: Html;
  readonly content: Html;
  readonly headers?: Readonly<Record<string, string>>;
  /** The script runs after the browser has parsed the content. The page works without it too. */
  readonly script?: string;
  readonly hasForm?: boolean;
}

/** A page for one person, such as a form or its result. It is not cached. */
export function personalPage(shown: PersonalPage): TextAnswer {
  const { status, title, navigation, content, headers = {}, script = '', hasForm = false } = shown;
  const whole = documentOf(title, navigation, content, script);
  return text(status, mediaType, whole, {
    ...headers,
    'content-security-policy': contentSecurityPolicy(hasForm ? "'self'" : "'none'", script),
  });
}

function sha256(source: string): string {
  return createHash('sha256').update(source).digest('base64');
}

const mediaType = 'text/html; charset=utf-8';

function documentOf(
  title: string,
  navigation: Html | undefined,
  content: Html,
  script = '',
): string {
  const scripts = script === '' ? [] : [new Html(`<script>${script}</script>`)];
  const contents =
    navigation === undefined ? [] : [html`<nav aria-label="Contents">${navigation}</nav>`];
  const { source } = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${styleElement}
      </head>
      <body class="${navigation === undefined ? 'plain' : ''}">
        <a class="skip" href="#content">Skip to the content</a>
        ${contents}
        <main id="content">${content}</main>
        ${scripts}
      </body>
    </html> `;
  return source;
}
