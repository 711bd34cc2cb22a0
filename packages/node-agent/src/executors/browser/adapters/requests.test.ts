import { describe, expect, test } from 'vitest';
import type { PageRequest } from '../fence/submit-fence.ts';
import { type Adapter, ashby, generic, greenhouse, lever, workable } from './index.ts';

const url = 'https://careers.example.com/jobs/welder';
const form = {
  url,
  action: `${url}/apply`,
  values: ['Ada Byron', 'ada@mail.example', 'Two\nlines & "more"'],
};

function isSubmission(adapter: Adapter, request: Partial<PageRequest>): boolean {
  const whole = { method: 'POST', url, bodyText: undefined, isNavigation: false, ...request };
  return adapter.submissionOf(form)(whole);
}

describe('the submission request', () => {
  test.each<[string, Adapter, Partial<PageRequest>]>([
    ["the form's own action", generic, { url: `${url}/apply`, isNavigation: true }],
    [
      'a body with a value in JSON',
      generic,
      { url: 'https://api.example.com/x', bodyText: '{"n":"Two\\nlines & \\"more\\""}' },
    ],
    [
      'a body with a value of a form',
      generic,
      { url: 'https://api.example.com/x', bodyText: 'mail=ada%40mail.example' },
    ],
    ['a body with words joined by a plus', generic, { bodyText: 'n=Ada+Byron' }],
    ['a body in parts', generic, { bodyText: 'name="n"\r\n\r\nTwo\r\nlines & "more"\r\n' }],
    [
      'a form with the method GET',
      generic,
      { method: 'GET', url: `${url}?n=Ada+Byron`, isNavigation: true },
    ],
    ['a PUT', generic, { method: 'PUT', bodyText: 'Ada Byron' }],
    ['the job of a board', greenhouse, { url: 'https://boards.greenhouse.io/acme/jobs/4000100' }],
    [
      'the job of an embedded board',
      greenhouse,
      { url: 'https://boards.greenhouse.io/embed/acme/jobs/4000100' },
    ],
    ['apply of Lever', lever, { url: 'https://jobs.lever.co/acme/3f2b/apply' }],
    [
      'the operation of Ashby',
      ashby,
      {
        url: 'https://jobs.ashbyhq.com/api/non-user-graphql?op=ApiSubmitSingleApplicationFormAction',
      },
    ],
    [
      'the operation of several forms',
      ashby,
      { url: 'https://jobs.ashbyhq.com/api/non-user-graphql?op=ApiSubmitMultipleFormsAction' },
    ],
    [
      'apply of Workable',
      workable,
      { url: 'https://apply.workable.com/api/v1/jobs/A1B2C3D4E5/apply' },
    ],
  ])('is %s', (_what, adapter, request) => {
    expect(isSubmission(adapter, request)).toBe(true);
  });

  test.each<[string, Adapter, Partial<PageRequest>]>([
    ['a page', generic, { method: 'GET', url: `${url}/apply`, isNavigation: true }],
    ['analytics', generic, { url: 'https://stats.example.com/', bodyText: '{"page":"welder"}' }],
    ['a preflight', generic, { method: 'OPTIONS', bodyText: 'Ada Byron' }],
    [
      'an upload of a board',
      greenhouse,
      { url: 'https://uploads.greenhouse.io/', bodyText: 'ada@mail.example' },
    ],
    ['the parser of Lever', lever, { url: 'https://jobs.lever.co/parseResume' }],
    [
      'an autosave of Ashby',
      ashby,
      {
        url: 'https://jobs.ashbyhq.com/api/non-user-graphql?op=ApiSetFormValue',
        bodyText: '{"value":"Ada Byron"}',
      },
    ],
    [
      'an upload of Workable',
      workable,
      { url: 'https://apply.workable.com/api/v1/jobs/A1B2C3D4E5/form/upload/resume' },
    ],
  ])('is not %s', (_what, adapter, request) => {
    expect(isSubmission(adapter, request)).toBe(false);
  });
});
