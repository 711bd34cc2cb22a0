import type { Adapter, Answer, Refusal } from './adapter.ts';
import { jsonOf, memberOf, mentionsCaptcha, refusalByStatus } from './answers.ts';
import { pathOf } from './requests.ts';

const operation = /\bApiSubmit(?:Single|Multiple)[A-Za-z]*Forms?Action\b/u;

function resultOf(answer: Answer): unknown {
  const data = memberOf(jsonOf(answer), 'data');
  return (
    memberOf(data, 'submitApplicationFormAction') ??
    memberOf(data, 'submitSingleApplicationFormAction') ??
    memberOf(data, 'submitMultipleFormsAction')
  );
}

/**
 * Ashby answers 200 to a refused application, too. The body of the answer says whether Ashby has
 * the application.
 */
function refusalIn(answer: Answer): Refusal | undefined {
  const json = jsonOf(answer);
  const errors = memberOf(json, 'errors');
  if (Array.isArray(errors) && errors.length > 0) {
    // Only an error about a captcha proves a refusal.
    if (mentionsCaptcha(errors)) return { kind: 'captcha' };
  }
  const result = resultOf(answer);
  const block = memberOf(result, 'messages', 'blockMessageForCandidateHtml');
  if (typeof block === 'string' && block !== '') return { kind: 'rejected' };
  const form = memberOf(result, 'applicationFormResult');
  const messages = memberOf(form, 'errorMessages') ?? memberOf(form, 'formErrors');
  if (!Array.isArray(messages) || messages.length === 0) return refusalByStatus(answer);
  if (mentionsCaptcha(messages)) return { kind: 'captcha' };
  const names = messages.flatMap((message: unknown) =>
    [message, memberOf(message, 'path'), memberOf(message, 'message')].filter(
      (name) => typeof name === 'string',
    ),
  );
  return { kind: 'fields', fields: names };
}

/**
 * The hosted and embedded form of Ashby. It has no `<form>`. Each question has the attribute
 * `data-field-path`.
 */
export const ashby: Adapter = {
  name: 'ashby',
  reading: {
    root: [
      '.ashby-application-form-container',
      '#form:has([data-field-path])',
      '[role="tabpanel"]:has([data-field-path])',
      'main:has([data-field-path])',
      'body > div:has([data-field-path])',
    ].join(', '),
    roles: [
      { control: '[data-field-path="_systemfield_name"] *', role: 'fullName' },
      { control: '[data-field-path="_systemfield_email"] *', role: 'email' },
      { control: '[data-field-path="_systemfield_phone"] *', role: 'phone' },
      { control: '[data-field-path="_systemfield_location"] *', role: 'location' },
      {
        control: '#_systemfield_resume, [data-field-path="_systemfield_resume"] *',
        role: 'resumeFile',
      },
      { control: '[data-field-path$="_systemfield_eeoc_gender"] *', role: 'gender' },
      { control: '[data-field-path$="_systemfield_eeoc_race"] *', role: 'race' },
      { control: '[data-field-path$="_systemfield_eeoc_veteran_status"] *', role: 'veteran' },
      { control: '[data-field-path$="_systemfield_eeoc_disability_status"] *', role: 'disability' },
    ],
    named: '#_systemfield_resume',
    // The autofill upload attaches no resume, and overwrites filled fields. The inputs of yes-or-no
    // questions are ignored, because their buttons are used.
    ignored:
      '[class*="autofill"] *, [data-testid*="autofill"] *, .ashby-application-form-input-yesno input',
    question: {
      container: '[data-field-path], .ashby-application-form-field-entry',
      label: '.ashby-application-form-question-title, label, legend',
      required: '[class*="_required"], [class*="required"]',
    },
    buttonGroup: {
      container: '[data-field-path], .ashby-application-form-field-entry',
      option:
        '.ashby-application-form-input-yesno button, [class*="_yesno"] button, button[data-option]',
    },
    fieldError: '[class*="_error"], [class*="field-error"], [role="alert"]',
    canUsePlaceholder: false,
    submit: '.ashby-application-form-submit-button, button[type="submit"]',
  },
  entry: '.ashby-job-posting-right-pane-application-tab, a[href$="/application"]',
  embed: '#ashby_embed, #ashby_embed_iframe',
  upload: {},
  submissionOf: () => (request) =>
    request.method === 'POST' &&
    /graphql/u.test(pathOf(request.url)) &&
    (operation.test(request.url) || operation.test((request.bodyText ?? '').slice(0, 4_096))),
  success: {
    shown: '.ashby-application-form-success-container',
    isAccepted: (answer) =>
      memberOf(resultOf(answer), 'applicationFormResult', '__typename') === 'FormSubmitSuccess',
    isSentenceEnough: true,
  },
  refusalShown:
    '.ashby-application-form-failure-container, .ashby-application-form-blocked-application-container',
  refusalIn,
  closed: {
    shown: '.ashby-job-not-found',
    sentences: [
      'Job not found',
      'The job you requested was not found',
      'This job is no longer accepting applications',
    ],
  },
};
