import type { Adapter } from './adapter.ts';
import { refusalByStatus } from './answers.ts';
import { postTo } from './requests.ts';

/** The hosted form of Workable. It first uploads the files, then sends the application as JSON. */
export const workable: Adapter = {
  name: 'workable',
  reading: {
    root: [
      'form[data-ui="application-form"]',
      'form:has([data-ui="firstname"])',
      'form:has([data-ui^="QA_"])',
    ].join(', '),
    roles: [
      { control: '[name="firstname"]', role: 'givenName' },
      { control: '[name="lastname"]', role: 'familyName' },
      { control: '[name="email"]', role: 'email' },
      { control: '[name="phone"]', role: 'phone' },
      { control: '[name="address"]', role: 'location' },
      { control: '[name="summary"]', role: 'summary' },
      { control: '[data-ui="resume"], [name="resume"]', role: 'resumeFile' },
      { control: 'textarea[name="cover_letter"]', role: 'coverLetterText' },
      { control: 'input[type="file"][name="cover_letter"]', role: 'coverLetterFile' },
    ],
    named: 'input[type="file"][data-ui="resume"]',
    ignored: '[data-ui="autofill"] *, [data-ui="avatar"], [data-ui="avatar"] *',
    fieldError:
      '[data-ui="error"], [id^="error-"], [id$="_error"], [data-role="error"], [role="alert"]',
    question: {
      container:
        '[data-ui="field"], [data-role="form-field"], [data-ui^="QA_"]:not(input, select, textarea), [data-ui^="CA_"]:not(input, select, textarea)',
      label: 'legend, label[id$="_label"], [id$="_label"]',
    },
    canUsePlaceholder: false,
    submit: '[data-ui="apply-button"], [data-ui="application-form-submit"], button[type="submit"]',
  },
  entry: '[data-ui="overview-apply-now"], a[data-ui="apply-button"], a[href$="/apply/"]',
  upload: {
    working: '[data-ui="uploading"], [data-role="progress"]',
    done: '[data-id="filename"], [data-ui="filename"]',
    failed: '[data-ui="upload-error"]',
  },
  submissionOf: postTo(/\/jobs\/[A-Za-z0-9]+\/(?:apply|application)\/?$|\/candidates\/?$/u),
  success: {
    path: /\/(?:thanks|success|confirmation)\/?$/u,
    shown: '[data-ui="success-message"], [data-ui="application-success"], [data-ui="thank-you"]',
    isSentenceEnough: true,
  },
  refusalShown: '[data-ui="submit-error"], [data-ui="application-error"]',
  refusalIn: refusalByStatus,
  closed: {
    address: /[?&]not_found=true\b/u,
    shown: '[data-ui="job-not-found"], [data-ui="job-closed"]',
    sentences: [
      'This job is no longer available',
      'Sorry, this job is not available anymore',
      'The job you’re looking for is no longer available',
    ],
  },
};
