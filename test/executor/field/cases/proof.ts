import { applicant } from '../applicant.ts';
import type { Expected, FieldCase } from '../field-case.ts';
import { applyUrl, completes, formPage, standardReceived } from './form.ts';

/** Pages after the submission, or in place of the form (CONTRACT 10, "At most once"). */

const received = standardReceived();
const html = { 'content-type': 'text/html; charset=utf-8' };
const page = (body: string) => ({ status: 200, headers: html, body: `<!doctype html>${body}` });

function sent(code: Extract<Expected, { outcome: 'failed' }>['code']): Expected {
  return { outcome: 'failed', code, received };
}

/** Sends the form by script, then runs `after`. */
function scripted(after: string): string {
  return formPage(
    '',
    `<script>document.forms[0].onsubmit = async (event) => { event.preventDefault();
    await fetch('/submit', { method: 'POST', body: new FormData(event.target) }); ${after} };</script>`,
  );
}

const replies: Readonly<Record<string, readonly [string, Expected]>> = {
  'thanks-french': ['<h1>Votre candidature a bien été envoyée.</h1>', completes(received)],
  'thanks-polish': ['<h1>Dziękujemy za przesłanie zgłoszenia!</h1>', completes(received)],
  'thanks-dutch': ['<p>We hebben je sollicitatie ontvangen.</p>', completes(received)],
  'thanks-bare-swedish': ['<h1>Tack!</h1><p>Vi hör av oss.</p>', completes(received)],
  'confirm-by-mail': [
    '<h1>Thank you for applying!</h1><p>To complete your application, please confirm your email address.</p>',
    sent('confirmation_required'),
  ],
  'confirm-by-mail-german': [
    '<h1>Vielen Dank für Ihre Bewerbung!</h1><p>Bitte bestätigen Sie Ihre E-Mail-Adresse.</p>',
    sent('confirmation_required'),
  ],
  'one-more-step': [
    '<h1>Thank you for applying!</h1><p>Just one more step: take our assessment.</p>',
    sent('node_error'),
  ],
  'saved-as-draft': ['<h1>Your application has been saved.</h1>', sent('node_error')],
  'already-applied-german': [
    '<div role="alert">Sie haben sich bereits auf diese Stelle beworben.</div>',
    sent('ats_rejected'),
  ],
};

const scripts: Readonly<Record<string, readonly [string, Expected]>> = {
  'thanks-in-toast': [
    `document.body.insertAdjacentHTML('beforeend', '<div><div class="toast"><span>Application submitted successfully</span></div></div>');`,
    completes(received),
  ],
  'thanks-in-dialog': [
    `document.body.insertAdjacentHTML('beforeend', '<dialog><h2>Thank you!</h2><div>We have received your application.</div></dialog>'); document.querySelector('dialog').showModal();`,
    completes(received),
  ],
  'thanks-in-live-region': [
    `document.forms[0].reset(); document.body.insertAdjacentHTML('afterbegin', '<div aria-live="polite">Danke! Deine Bewerbung wurde versendet.</div>');`,
    completes(received),
  ],
  'thanks-with-new-question': [
    `document.body.insertAdjacentHTML('afterbegin', '<p>Thank you for applying!</p>'); document.forms[0].insertAdjacentHTML('afterbegin', '<label>Notice period * <input name="np" required></label>');`,
    sent('node_error'),
  ],
};

const walls: Readonly<Record<string, readonly [string, Expected]>> = {
  'posting-filled': [
    '<h1>Data Engineer</h1><p>We’re sorry, this position has been filled.</p>',
    { outcome: 'failed', code: 'posting_closed' },
  ],
  'posting-filled-italian': [
    '<h1>Data Engineer</h1><p>Questa posizione non è più disponibile.</p>',
    { outcome: 'failed', code: 'posting_closed' },
  ],
  'account-wall': [
    '<h1>Data Engineer</h1><p>Please sign in or create an account to apply.</p><a href="/in">Sign in</a>',
    { outcome: 'failed', code: 'login_required' },
  ],
  'account-wall-french': [
    '<h1>Data Engineer</h1><p>Connectez-vous pour postuler.</p>',
    { outcome: 'failed', code: 'login_required' },
  ],
  'challenge-in-form': [
    formPage(
      '<iframe src="http://newassets.hcaptcha.com/captcha?frame=challenge" title="hCaptcha challenge" width="300" height="400"></iframe>',
    ),
    { outcome: 'failed', code: 'captcha' },
  ],
  'drawn-signature': [
    formPage('<p>Signature *</p><canvas width="300" height="100"></canvas>'),
    { outcome: 'failed', code: 'form_unsupported' },
  ],
  'check-that-passes': [
    `<h1>Just a moment...</h1><p>Checking your browser</p><template>${formPage('')}</template><script>setTimeout(() => { document.body.innerHTML = document.querySelector('template').innerHTML; }, 4000);</script>`,
    completes(received),
  ],
};

type Entries = readonly (readonly [string, readonly [string, Expected]])[];
const shared = { url: applyUrl, profile: applicant } as const;
const of = (all: typeof replies): Entries => Object.entries(all);

export const proofCases: readonly FieldCase[] = [
  ...of(replies).map(([id, [body, expected]]) => ({
    ...shared,
    id,
    page: formPage(''),
    reply: page(body),
    expected,
  })),
  ...of(scripts).map(([id, [after, expected]]) => ({
    ...shared,
    id,
    page: scripted(after),
    expected,
  })),
  ...of(walls).map(([id, [body, expected]]) => ({ ...shared, id, page: body, expected })),
];
