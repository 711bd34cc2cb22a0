import type { Adapter } from './adapter.ts';
import { refusalByStatus } from './answers.ts';
import { postTo } from './requests.ts';

/**
 * The hosted form of Lever: one page. A script checks the form, and then the browser itself submits
 * it.
 */
export const lever: Adapter = {
  name: 'lever',
  reading: {
    root: [
      'form#application-form:has(#resume-upload-input)',
      'form:has(#btn-submit)',
      'form:has([name^="cards["])',
    ].join(', '),
    roles: [
      { control: '[name="resume"]', role: 'resumeFile' },
      { control: '[name="name"]', role: 'fullName' },
      { control: '[name="email"]', role: 'email' },
      { control: '[name="phone"]', role: 'phone' },
      { control: '[name="location"]', role: 'location' },
      { control: '[name="org"]', role: 'company' },
      { control: '[name="urls[LinkedIn]"]', role: 'linkedin' },
      { control: '[name="urls[GitHub]"]', role: 'github' },
      { control: '[name="urls[Twitter]"]', role: 'twitter' },
      { control: '[name="urls[Portfolio]"], [name="urls[Other]"]', role: 'website' },
      { control: '[name="comments"]', role: 'coverLetterText' },
      { control: '[name="eeo[gender]"]', role: 'gender' },
      { control: '[name="eeo[race]"]', role: 'race' },
      { control: '[name="eeo[veteran]"]', role: 'veteran' },
      { control: '[name="eeo[disability]"]', role: 'disability' },
    ],
    named: '#resume-upload-input',
    question: {
      container: '.application-question',
      label: '.application-label',
      required: '.required',
    },
    typeaheads: [{ control: 'input.location-input', options: '.dropdown-location' }],
    fieldError: '.error-message',
    canUsePlaceholder: false,
    submit: '#btn-submit, button.template-btn-submit',
  },
  entry: 'a.postings-btn[href$="/apply"], [data-qa="show-page-apply"]',
  upload: {
    // The page reads the uploaded resume and fills in fields from it. Afterwards `fillForm`
    // corrects the fields that the profile answers.
    working: '.resume-upload-working',
    done: '.resume-upload-success, .resume-upload-failure',
    failed: '.resume-upload-oversize',
  },
  submissionOf: postTo(/\/apply\/?$/u),
  success: {
    path: /\/thanks\/?$/u,
    shown: '[data-qa="msg-submit-success"]',
    isSentenceEnough: false,
  },
  refusalShown: '.application-already-received',
  refusalIn: refusalByStatus,
  captchaSentences: ['There was an error verifying your application. Please try again.'],
  closed: {
    sentences: [
      'Sorry, we couldn’t find anything here',
      'The job posting you’re looking for might have closed, or it has been removed. (404 error).',
    ],
  },
};
