import { answers, applicant, resume } from '../applicant.ts';
import type { Expected, FieldCase } from '../field-case.ts';
import { applyUrl, completes, pageFile, standardReceived } from './form.ts';

const file = { file: resume.name };
const withAnswers = (byQuestion: Parameters<typeof answers>[0]) => ({
  ...applicant,
  ...answers(byQuestion),
});
const html = (body: string) => ({ status: 200, body });

interface Reported extends Partial<FieldCase> {
  readonly expected: Expected;
}

/** Pages that were rebuilt from public reports and saved pages. `pages/ID.html` is the page. */
const reported: Readonly<Record<string, Reported>> = {
  'bamboohr-fabric': {
    profile: withAnswers({ Country: 'United States' }),
    expected: completes({ c: 'United States', f: file, n: 'Maya', nick: '' }),
  },
  'confirm-email': {
    expected: completes(standardReceived({ em2: applicant.basics.email })),
  },
  'date-german-placeholder': {
    lang: 'de',
    profile: withAnswers({ 'Frühestmögliches Eintrittsdatum': '2027-02-01' }),
    expected: completes(standardReceived({ d: '01.02.2027' })),
  },
  'date-three-selects': {
    profile: withAnswers({ 'Available from': '2027-02-01' }),
    expected: completes(standardReceived({ dd: '1', mm: '2', yy: '2027' })),
  },
  'german-submit-two-buttons': { lang: 'de', expected: completes(standardReceived()) },
  'german-thanks': {
    reply: html(
      '<!doctype html><html lang=de><meta charset=utf-8><title>Danke</title><h1>Vielen Dank für Ihre Bewerbung!</h1><p>Wir haben Ihre Bewerbung erhalten und melden uns bald.</p></html>',
    ),
    expected: completes(standardReceived()),
  },
  'greenhouse-conditional': {
    url: 'http://job-boards.greenhouse.io/acme/jobs/4000100',
    profile: withAnswers({
      'Will you require sponsorship?': 'Yes',
      'Which visa do you hold?': 'H-1B',
    }),
    expected: completes({
      first_name: 'Maya',
      last_name: 'Okafor',
      email: applicant.basics.email,
      resume: file,
      question_1: 'Yes',
      question_2: 'H-1B',
    }),
  },
  'honeypot-clip-path': { expected: completes(standardReceived({ website: '' })) },
  'honeypot-zero-height': { expected: completes(standardReceived({ website: '' })) },
  'react-page-without-form-element': {
    expected: completes({
      n: 'Maya Okafor',
      e: applicant.basics.email,
      p: { digits: '14155550142' },
      f: file,
    }),
  },
  'rich-text-editor': {
    profile: { ...applicant, coverLetter: 'Dear team,\n\nI would like to join you.\n\nMaya' },
    expected: completes(
      standardReceived({ letter: { lines: ['Dear team,', 'I would like to join you.', 'Maya'] } }),
    ),
  },
  'salary-thousands-mask': {
    profile: withAnswers({ 'Expected salary (USD)': '120000' }),
    expected: completes(standardReceived({ sal: { oneOf: ['120,000', '120000'] } })),
  },
  select2: {
    profile: withAnswers({ 'How did you hear about us?': 'Friend' }),
    expected: completes(standardReceived({ src: 'Friend' })),
  },
  'smartrecruiters-shadow-no-form': {
    profile: withAnswers({ 'Confirm your email': applicant.basics.email }),
    expected: completes({
      0: 'Maya',
      1: 'Okafor',
      2: applicant.basics.email,
      3: applicant.basics.email,
      4: file,
    }),
  },
  'teamtailor-menu-dropdown': {
    profile: withAnswers({ 'Expected degree classification': '2:1' }),
    expected: completes({
      candidate_first_name: 'Maya',
      candidate_last_name: 'Okafor',
      candidate_email: applicant.basics.email,
      cv: file,
      q1: '2:1',
    }),
  },
  'thanks-for-your-application': {
    reply: html(
      '<!doctype html><meta charset=utf-8><title>Thanks</title><h1>Thanks for your application!</h1><p>Our team will be in touch within two weeks.</p>',
    ),
    expected: completes(standardReceived()),
  },
  'turnstile-slow': {
    hosts: ['challenges.cloudflare.com'],
    expected: completes(standardReceived({ 'cf-turnstile-response': '0.abc' })),
  },
  'wizard-weiter': { lang: 'de', expected: completes(standardReceived()) },
  'workable-checkboxes': {
    profile: withAnswers({ 'Which languages do you speak?': ['English', 'Greek'] }),
    expected: completes({ ...workableReceived(), QA_3: ['7001', '7003'] }),
  },
  'workable-dropdown-unanswered': {
    expected: {
      outcome: 'failed',
      code: 'invalid_payload',
      names: ['How did you hear about us?'],
    },
  },
  'workable-yes-no': {
    profile: withAnswers({ 'Are you legally authorized to work in Canada?': 'Yes' }),
    expected: completes({ ...workableReceived(), QA_1: 'true' }),
  },
  'workday-apply-choice': {
    respond: ({ path }) =>
      path === '/login'
        ? {
            status: 200,
            headers: { 'content-type': 'text/html' },
            body: '<!doctype html><title>Sign in</title><h1>Sign In</h1><form method="post"><label>Email Address <input name="u"></label><label>Password <input type="password" name="p"></label><button>Sign In</button></form>',
          }
        : undefined,
    expected: { outcome: 'failed', code: 'login_required' },
  },
  'years-number-plus': {
    profile: withAnswers({ 'Years of experience': '7+' }),
    expected: { outcome: 'failed', code: 'invalid_payload', names: ['Years of experience'] },
  },
};

function workableReceived() {
  return {
    firstname: 'Maya',
    lastname: 'Okafor',
    email: applicant.basics.email,
    resume: file,
  };
}

export const reportedCases: readonly FieldCase[] = Object.entries(reported).map(([id, one]) => ({
  id,
  url: applyUrl,
  page: pageFile(id),
  profile: applicant,
  ...one,
}));
