import type { Adapter } from './adapter.ts';
import { refusalByStatus } from './answers.ts';
import { postTo } from './requests.ts';

/**
 * Greenhouse in its three variants: the present job board, the older one (`job_application[…]`),
 * and either of them in the frame that an employer's page embeds.
 */
export const greenhouse: Adapter = {
  name: 'greenhouse',
  reading: {
    root: [
      'form#application-form:has(#first_name)',
      'form.application--form',
      'form#application_form',
      'form:has([name^="job_application["])',
    ].join(', '),
    roles: [
      { control: '#first_name', role: 'givenName' },
      { control: '#last_name', role: 'familyName' },
      { control: '#email', role: 'email' },
      { control: '#phone', role: 'phone' },
      { control: '#candidate-location, #job_application_location', role: 'location' },
      { control: '#resume, #job_application_resume', role: 'resumeFile' },
      { control: '#cover_letter, #job_application_cover_letter', role: 'coverLetterFile' },
      {
        control: '#cover_letter_text, [name="job_application[cover_letter_text]"]',
        role: 'coverLetterText',
      },
      { control: '#gender, [name="job_application[gender]"]', role: 'gender' },
      { control: '#race, #hispanic_ethnicity, [name="job_application[race]"]', role: 'race' },
      { control: '#veteran_status, [name="job_application[veteran_status]"]', role: 'veteran' },
      {
        control: '#disability_status, [name="job_application[disability_status]"]',
        role: 'disability',
      },
    ],
    named: '#resume, #cover_letter, select[name^="job_application["]',
    question: {
      container: '.field-wrapper, .field, fieldset.checkbox, .checkbox__wrapper',
      label: '.upload-label, legend, label, .label',
      required: '.asterisk, .required',
    },
    fieldError: '.helper-text--error, .field-error-msg, div.error, p.error, [id$="-error"]',
    canUsePlaceholder: false,
    submit: '#submit_app, .application--submit button, button[type="submit"]',
  },
  entry: 'a.js-apply-button, a[href="#app"]',
  embed: '#grnhse_app, #grnhse_iframe',
  upload: {
    working: '.file-upload__progress, .progress-bar, .loading-indicator',
    done: '.file-upload__filename, .filename, #resume_filename',
    failed: '.file-upload__error, .helper-text--error',
  },
  // The job board posts the application to `/embed/job_app`, or to the path of the job, which may
  // begin with `/embed`.
  submissionOf: postTo(/\/jobs\/\d+\/?$|\/embed\/job_app\/?$/u),
  success: {
    path: /\/confirmation\/?$/u,
    shown: '#application_confirmation, .confirmation, .confirmation__content',
    isSentenceEnough: false,
  },
  refusalShown: '.flash.error, #flash.error',
  refusalIn: refusalByStatus,
  closed: {
    address: /[?&]error=true\b/u,
    shown: '#flash_pending, .flash-pending',
    sentences: [
      'The job you are looking for is no longer open',
      'This job is no longer open',
      'Sorry, but we can’t find that page',
    ],
  },
};
