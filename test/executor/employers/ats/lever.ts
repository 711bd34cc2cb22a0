import { consentLabel } from '../applicant.ts';
import {
  disabilityLabels,
  genderLabels,
  labelled,
  languageLabels,
  optional,
  required,
  sourceLabels,
  veteranLabels,
  type Field,
} from '../fields.ts';
import { formPage } from '../pages/form-page.ts';
import { escapeHtml, jsonAnswer, pageAnswer, redirect } from '../pages/html.ts';
import { nativeScript } from '../pages/native-script.ts';
import { captchaPart } from '../pages/walls.ts';
import type { FixtureAnswer, FixtureRequest } from '../server/listen.ts';
import { parseMultipart } from '../server/multipart.ts';
import { type AtsFixture, receive, type World } from '../server/world.ts';

/**
 * A hosted form of Lever. The page sends the resume twice: to a parser at once, and later with the
 * application.
 */

const posting = '/acme/3f2b0c1e-5d4a-4c7e-9b1a-0a1b2c3d4e5f';
const card = (name: string): string => `cards[7d0c4b52-9f6e-4b53-8a3c-1e2f3a4b5c6d][${name}]`;

const fields: readonly Field[] = [
  required('resume', 'resume', 'Resume/CV', 'file'),
  required('name', 'fullName', 'Full name', 'text'),
  required('email', 'email', 'Email', 'text'),
  required('phone', 'phone', 'Phone', 'text'),
  optional('org', 'company', 'Current company', 'text'),
  optional('urls[LinkedIn]', 'linkedin', 'LinkedIn URL', 'text'),
  required(
    card('field0'),
    'authorised',
    'Are you legally authorized to work in Ireland?',
    'radio',
    { options: labelled('Yes', 'No') },
  ),
  required(card('field1'), 'source', 'How did you hear about this job?', 'select', {
    options: labelled(...sourceLabels),
  }),
  required(card('field2'), 'languages', 'Which languages do you speak?', 'checkboxes', {
    options: labelled(...languageLabels),
    isMultiple: true,
  }),
  required(card('field3'), 'motivation', 'Why do you want to work here?', 'textarea'),
  optional('eeo[gender]', 'gender', 'Gender', 'select', { options: labelled(...genderLabels) }),
  optional('eeo[veteran]', 'veteran', 'Veteran status', 'select', {
    options: labelled(...veteranLabels),
  }),
  optional('eeo[disability]', 'disability', 'Disability status', 'select', {
    options: labelled(...disabilityLabels),
  }),
  required('consent[store]', 'consent', consentLabel, 'checkbox', {
    options: [{ label: consentLabel, value: '1' }],
  }),
];

/** Sends a chosen resume to the parser, and fills empty fields with the data that it returns. */
const parseScript = String.raw`
app.showUploadState = function (name, text) {
  ['working', 'success', 'failure', 'oversize'].forEach(function (state) {
    var shown = document.querySelector('.resume-upload-' + state);
    shown.style.display = state === name ? 'inline' : 'none';
  });
  document.querySelector('.application-question.resume .filename').textContent = text;
};
app.on('change', '#resume-upload-input', function (input) {
  var file = input.files[0];
  if (!file) return;
  var form = new FormData();
  form.append('resume', file);
  app.showUploadState('working', file.name);
  fetch('/parseResume', { method: 'POST', body: form }).then(function (answer) {
    if (answer.status === 413) throw new Error('oversize');
    return answer.json();
  }).then(function (parsed) {
    Object.keys(parsed.fields).forEach(function (name) {
      var field = document.querySelector('[name="' + name + '"]');
      if (field && field.value === '') field.value = parsed.fields[name];
    });
    document.querySelector('[name=resumeStorageId]').value = parsed.resumeStorageId;
    app.showUploadState('success', file.name);
  }, function () {
    input.value = '';
    app.showUploadState('oversize', '');
  });
});
`;

const star = ({ isRequired }: Field): string =>
  isRequired ? '<span class="required">&#10033;</span>' : '';

function question(field: Field, widget: string, className = ''): string {
  return `<li class="application-question ${className}"><label><div class="application-label">${escapeHtml(field.label)}${star(field)}</div><div class="application-field">${widget}</div></label></li>`;
}

function choices({ name, control, options = [], isRequired }: Field): string {
  const type = control === 'radio' ? 'radio' : 'checkbox';
  const items = options.map(
    ({ label, value }) =>
      `<li><label><input type="${type}" name="${name}" value="${escapeHtml(value)}"${isRequired && type === 'radio' ? ' required' : ''}><span class="application-answer-alternative">${escapeHtml(label)}</span></label></li>`,
  );
  return `<ul data-qa="${control === 'radio' ? 'multiple-choice' : 'checkboxes'}">${items.join('')}</ul>`;
}

function widgetHtml(field: Field): string {
  const { name, label, control, isRequired, options = [] } = field;
  const mark = isRequired ? ' required' : '';
  switch (control) {
    case 'file':
      return question(
        field,
        `<a href="#" class="postings-btn visible-resume-upload" tabindex="-1"><span class="filename"></span><span class="default-label">ATTACH RESUME/CV</span><input class="application-file-input visually-hidden" id="resume-upload-input" type="file" name="${name}" data-qa="input-resume" tabindex="-1"></a>
<span class="resume-upload-working" style="display:none">Analyzing resume...</span><span class="resume-upload-success" style="display:none">Success!</span><span class="resume-upload-failure" style="display:none">Couldn't auto-read resume.</span><span class="resume-upload-oversize" style="display:none">File exceeds the maximum upload size of 100MB.</span><input type="hidden" name="resumeStorageId">`,
        'resume',
      );
    case 'radio':
    case 'checkboxes':
      return `<li class="application-question custom-question"><div class="application-label full-width"><div class="text">${escapeHtml(label)}${star(field)}</div></div><div class="application-field full-width">${choices(field)}</div></li>`;
    case 'checkbox':
      return `<li class="application-question consent"><label><input type="checkbox" name="${name}" value="1"${mark}><span>${escapeHtml(label)}</span></label></li>`;
    case 'select': {
      const list = options.map(
        ({ value }) => `<option value="${escapeHtml(value)}">${escapeHtml(value)}</option>`,
      );
      return question(
        field,
        `<div class="application-dropdown"><select name="${name}"${mark}><option value="">Select...</option>${list.join('')}</select></div>`,
      );
    }
    case 'textarea':
      return question(
        field,
        `<textarea name="${name}" rows="4"${mark}></textarea>`,
        'custom-question',
      );
    case 'text':
    case 'combobox':
    case 'search':
    case 'date':
      return question(
        field,
        `<input type="${name === 'email' ? 'email' : 'text'}" name="${name}" data-qa="${name}-input"${mark}>`,
      );
  }
}

function form(
  world: World,
  { status = 200, errors = [] }: { status?: number; errors?: readonly string[] } = {},
): FixtureAnswer {
  const { behaviour } = world;
  const html = (isOwn: boolean): string =>
    world.fields
      .filter(({ name }) => name.startsWith('cards[') === isOwn)
      .map(widgetHtml)
      .join('');
  const messages = errors.map(
    (text) => `<p class="error-message" role="alert">&#10033; ${escapeHtml(text)}</p>`,
  );
  const page = formPage(world, {
    title: 'Acme - Welder',
    before: '<main class="application-page"><div class="posting-header"><h2>Welder</h2></div>',
    form: `<form id="application-form" enctype="multipart/form-data" method="POST" action="${posting}/apply" novalidate>${messages.join('')}<div class="section application-form page-centered"><h4>Submit your application</h4><ul>${html(false)}</ul></div>
<div class="section application-form"><ul class="custom-questions">${html(true)}</ul><input type="hidden" name="${card('baseTemplate')}" value="{}"></div>${captchaPart(behaviour, 'hcaptcha')}
<button id="btn-submit" type="button" class="postings-btn template-btn-submit" data-qa="btn-submit">Submit application</button></form>`,
    after: '</main>',
    wrapper: '.application-question',
    isControlled: false,
    data: {
      form: '#application-form',
      submit: '#btn-submit',
      errorClass: 'error-message',
      isDoubled: behaviour === 'double-submit',
    },
    scripts: [nativeScript, parseScript],
  });
  return page === 'cut' ? page : { ...page, status };
}

function takeApplication(request: FixtureRequest, world: World): FixtureAnswer {
  const received = parseMultipart(request.body, request.headers['content-type'] ?? '');
  const verdict = receive(world, received, request.visit);
  switch (verdict.kind) {
    case 'accepted':
      return redirect(`${posting}/thanks`);
    case 'captcha':
      return form(world, {
        status: 400,
        errors: ['There was an error verifying your application. Please try again.'],
      });
    case 'fields':
      return form(world, {
        status: 422,
        errors: verdict.refused.map(({ label }) => `${label} is not valid`),
      });
    case 'refused':
      return pageAnswer(
        'Acme - Welder',
        '<main><div class="application-already-received"><h3>Application already received</h3><p>You have already applied for this job.</p></div></main>',
      );
    case 'error':
      return pageAnswer('Error', '<h1>Something went wrong on our end</h1>', { status: 500 });
    case 'cut':
      return 'cut';
  }
}

function parseResume({ behaviour }: World): FixtureAnswer {
  if (behaviour === 'upload-refused') return jsonAnswer(413, { error: 'oversize' });
  return jsonAnswer(200, {
    resumeStorageId: 'storage-1',
    fields: { name: 'A. Parser', org: 'A company that the parser found' },
  });
}

export const lever: AtsFixture = {
  hosts: ['jobs.lever.example'],
  applicationPath: `${posting}/apply`,
  fields,
  extraName: card('field9'),
  unshown: { 'multi-step': 'the hosted form has one page' },
  respond(request, world) {
    const { method, path } = request;
    if (path === '/parseResume' && method === 'POST') return parseResume(world);
    if (path === `${posting}/apply`) {
      if (method === 'POST') return takeApplication(request, world);
      if (world.behaviour !== 'posting-closed') return form(world);
      return pageAnswer(
        'Not found - 404 error',
        `<main class="page-404"><h2>Sorry, we couldn't find anything here</h2><p>The job posting you're looking for might have closed, or it has been removed. (404 error).</p></main>`,
        { status: 404 },
      );
    }
    if (path === `${posting}/thanks`) {
      return pageAnswer(
        'Acme - Welder',
        '<main><div class="section page-centered"><h3 data-qa="msg-submit-success">Application submitted!</h3></div></main>',
      );
    }
    return undefined;
  },
};
