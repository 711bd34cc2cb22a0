import { readFileSync } from 'node:fs';
import { resume } from '../applicant.ts';
import type { Expected } from '../field-case.ts';
import type { Wanted } from '../received.ts';

export const applyUrl = 'http://jobs.example.com/apply';

/** The content of `pages/NAME.html`. */
export function pageFile(name: string): string {
  return readFileSync(new URL(`../pages/${name}.html`, import.meta.url), 'utf8');
}

const standardFields = `<p><label for="fn">First name *</label><input id="fn" name="fn" required></p>
<p><label for="ln">Last name *</label><input id="ln" name="ln" required></p>
<p><label for="em">Email *</label><input id="em" name="em" type="email" required></p>
<p><label for="cv">Resume</label><input id="cv" name="cv" type="file" required></p>`;

/** A form that asks for names, an e-mail address and a resume, and then for `more`. */
export function formPage(more: string, after = ''): string {
  return `<h1>Apply for Data Engineer</h1><form method="post" action="/submit" enctype="multipart/form-data">${standardFields}${more}<button type="submit">Submit application</button></form>${after}`;
}

/** The values of `formPage`, and `more`. */
export function standardReceived(
  more: Readonly<Record<string, Wanted>> = {},
): Readonly<Record<string, Wanted>> {
  return {
    fn: 'Maya',
    ln: 'Okafor',
    em: 'maya.okafor@mail.example',
    cv: { file: resume.name },
    ...more,
  };
}

export function completes(received: Readonly<Record<string, Wanted>>): Expected {
  return { outcome: 'completed', received };
}
