import { describe, expect, test } from 'vitest';
import {
  type Adapter,
  type Answer,
  ashby,
  generic,
  greenhouse,
  lever,
  workable,
} from '../adapters/index.ts';
import { emptyPage, type PageFacts } from './facts.ts';
import type { FieldReport } from './in-page/reports.ts';
import { confirmationIdIn, type Evidence, judge } from './proof.ts';

const empty: PageFacts = { ...emptyPage, urls: ['https://jobs.example.com/acme/1/apply'] };

function reportOf(label: string, key: string, changes: Partial<FieldReport> = {}): FieldReport {
  return {
    field: { key, kind: 'text', label, isRequired: true },
    state: { kind: 'text', text: '' },
    isInvalid: false,
    isMarked: false,
    hasMessage: false,
    autocomplete: '',
    names: [key],
    ...changes,
  };
}

const form = [reportOf('Email', 'job_application[email]'), reportOf('Name', 'name')];

function evidence(
  adapter: Adapter,
  answer: Partial<Answer>,
  changes: Partial<Evidence> & { readonly facts?: Partial<PageFacts> } = {},
): Evidence {
  const { facts, ...others } = changes;
  return {
    adapter,
    answer: {
      kind: 'answered',
      status: 200,
      url: 'https://jobs.example.com/',
      bodyText: '',
      ...answer,
    },
    page: { ...empty, ...facts },
    before: empty,
    sent: form,
    now: form,
    isSettled: true,
    ...others,
  };
}

const json = (value: unknown): string => JSON.stringify(value);
const ashbyResult = (result: unknown, block: string | null = null): string =>
  json({
    data: {
      submitSingleApplicationFormAction: {
        applicationFormResult: result,
        messages: { blockMessageForCandidateHtml: block },
      },
    },
  });

describe('an application is accepted', () => {
  const thanks = { sentences: ['Thank you for your application'] };
  test.each<[string, Evidence]>([
    [
      'Greenhouse, at its confirmation',
      evidence(
        greenhouse,
        { status: 200 },
        { facts: { urls: ['https://a.example/x/jobs/1/confirmation'] } },
      ),
    ],
    [
      'Lever, at its thanks',
      evidence(lever, { status: 302 }, { facts: { urls: ['https://a.example/x/thanks'] } }),
    ],
    [
      'Ashby, by its answer',
      evidence(ashby, { bodyText: ashbyResult({ __typename: 'FormSubmitSuccess' }) }),
    ],
    [
      'Workable, by its message',
      evidence(
        workable,
        { status: 201 },
        { facts: { shown: new Set([workable.success.shown ?? '']) } },
      ),
    ],
    ['a plain page, by its sentence', evidence(generic, {}, { now: undefined, facts: thanks })],
    ['a plain page, by a toast over its form', evidence(generic, {}, { facts: thanks })],
    [
      'a plain page, by bare thanks in place of the form',
      evidence(generic, {}, { now: undefined, facts: { sentences: ['Vielen Dank!'] } }),
    ],
  ])('by %s', (_how, seen) => {
    expect(judge(seen)).toEqual({ kind: 'accepted' });
  });
});

describe('nothing is proved', () => {
  test.each<[string, Evidence]>([
    ['a page without a word', evidence(generic, {}, { now: undefined })],
    [
      'thanks with a new required question',
      evidence(
        generic,
        {},
        {
          now: [...form, reportOf('Notice period', 'notice')],
          facts: { sentences: ['Thank you for applying'] },
        },
      ),
    ],
    [
      'thanks over the form, a moment after the answer',
      evidence(generic, {}, { isSettled: false, facts: { sentences: ['Thank you for applying'] } }),
    ],
    ...[
      'To complete your application, answer two questions.',
      'One more step',
      'Your application is not complete yet.',
    ].map((veto): [string, Evidence] => [
      `thanks with “${veto}”`,
      evidence(
        generic,
        {},
        { now: undefined, facts: { sentences: ['Thank you for applying', veto] } },
      ),
    ]),
    [
      'thanks on a page whose text before was cut',
      evidence(
        generic,
        {},
        {
          now: undefined,
          before: { ...empty, isCut: true },
          facts: { sentences: ['Thank you for applying'] },
        },
      ),
    ],
    [
      'an error of the server',
      evidence(lever, { status: 500 }, { facts: { urls: ['https://a.example/x/thanks'] } }),
    ],
    [
      'a server that is busy',
      evidence(generic, { status: 503, bodyText: json({ error: 'captcha' }) }),
    ],
    [
      'a status of 200 of a known system alone',
      evidence(greenhouse, { status: 200, bodyText: json({ status: 'ok' }) }),
    ],
    [
      'a form that has not come back yet',
      evidence(generic, { status: 422 }, { isSettled: false, now: undefined }),
    ],
    [
      'a promise',
      evidence(
        generic,
        {},
        {
          now: undefined,
          facts: { sentences: ['Your application will be sent soon', 'Submit application'] },
        },
      ),
    ],
  ])('by %s', (_how, seen) => {
    expect(judge(seen)).toEqual({ kind: 'open' });
  });
});

test('a page that asks to confirm by e-mail proves that the application does not count yet', () => {
  const sentences = ['Thank you for applying', 'Please confirm your email address.'];
  const seen = evidence(generic, {}, { now: undefined, facts: { sentences } });
  expect(judge(seen)).toEqual({ kind: 'to_confirm' });
  expect(judge({ ...seen, isSettled: false })).toEqual({ kind: 'open' });
});

describe('a refusal is proved', () => {
  const captcha = { kind: 'refused', refusal: { kind: 'captcha' } };
  const rejected = { kind: 'refused', refusal: { kind: 'rejected' } };
  const email = { kind: 'fields', labels: ['Email'] };
  const marked = [
    reportOf('Email', 'email', { isMarked: true }),
    reportOf('Name', 'name', { isInvalid: true }),
  ];
  test.each<[string, unknown, Evidence]>([
    ['428', captcha, evidence(greenhouse, { status: 428 })],
    [
      'a captcha that failed',
      captcha,
      evidence(workable, { status: 403, bodyText: json({ code: 'captcha' }) }),
    ],
    [
      'a score that is too low, with status 200',
      captcha,
      evidence(ashby, {
        bodyText: json({
          errors: [{ extensions: { code: 'RECAPTCHA_SCORE_BELOW_THRESHOLD' } }],
          data: null,
        }),
      }),
    ],
    [
      "Lever's sentence",
      captcha,
      evidence(
        lever,
        { status: 400 },
        {
          facts: { alerts: ['✱ There was an error verifying your application. Please try again.'] },
        },
      ),
    ],
    [
      'a challenge that the page shows',
      captcha,
      evidence(generic, { status: 403 }, { facts: { challenge: 'checkbox' } }),
    ],
    [
      'the keys of fields',
      email,
      evidence(greenhouse, { status: 422, bodyText: json({ errors: { email: ['is invalid'] } }) }),
    ],
    [
      'the paths of fields, with status 200',
      email,
      evidence(ashby, {
        bodyText: ashbyResult({
          __typename: 'FormRender',
          errorMessages: [{ path: 'job_application[email]', message: 'is invalid' }],
        }),
      }),
    ],
    [
      'a message that names a label',
      email,
      evidence(lever, { status: 422 }, { facts: { alerts: ['✱ Email is not valid'] } }),
    ],
    ['a mark at a field', email, evidence(generic, { status: 422 }, { now: marked })],
    [
      'a second application',
      rejected,
      evidence(
        generic,
        {},
        { now: undefined, facts: { sentences: ['You have already applied for this job.'] } },
      ),
    ],
    [
      'a block, with status 200',
      rejected,
      evidence(ashby, {
        bodyText: ashbyResult({ __typename: 'FormSubmitSuccess' }, 'Limit reached'),
      }),
    ],
    ['409', rejected, evidence(generic, { status: 409 })],
    ['a plain 400', rejected, evidence(greenhouse, { status: 400 }, { now: undefined })],
    ['410', { kind: 'refused', refusal: { kind: 'closed' } }, evidence(workable, { status: 410 })],
  ])('by %s', (_how, expected, seen) => {
    expect(judge(seen)).toEqual(expected);
  });
});

test.each([
  ['Your reference is APP-1001.', 'APP-1001'],
  ['Confirmation number: 48-2201', '48-2201'],
  ['Application ID #A1B2C3', 'A1B2C3'],
  ['Your application is complete', undefined],
  ['Application received', undefined],
])('%s has the number %s', (sentence, id) => {
  expect(confirmationIdIn([sentence])).toBe(id);
});

test('an internal error of Ashby is no refusal', () => {
  const errors = [
    { message: 'Internal server error', extensions: { code: 'INTERNAL_SERVER_ERROR' } },
  ];
  expect(judge(evidence(ashby, { bodyText: json({ errors, data: null }) }))).toEqual({
    kind: 'open',
  });
});
