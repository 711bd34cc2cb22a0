import { consentLabel } from '../applicant.ts';
import {
  disabilityLabels,
  genderLabels,
  languageLabels,
  numbered,
  optional,
  required,
  sourceLabels,
  veteranLabels,
  type Field,
} from '../fields.ts';
import { formPage } from '../pages/form-page.ts';
import { escapeHtml, pageAnswer, redirect } from '../pages/html.ts';
import { nativeScript } from '../pages/native-script.ts';
import { refuseFileScript } from '../pages/upload-script.ts';
import { captchaPart } from '../pages/walls.ts';
import type { FixtureAnswer, FixtureRequest } from '../server/listen.ts';
import { parseMultipart } from '../server/multipart.ts';
import { type AtsFixture, receive, type World } from '../server/world.ts';

/** The older board of Greenhouse: one native form, which sends its files with the application. */

const jobPath = '/acme/jobs/4000200';
const answer = (index: number, member: string): string =>
  `job_application[answers_attributes][${index}][${member}]`;

const fields: readonly Field[] = [
  required('job_application[first_name]', 'givenName', 'First Name', 'text'),
  required('job_application[last_name]', 'familyName', 'Last Name', 'text'),
  required('job_application[email]', 'email', 'Email', 'text'),
  optional('job_application[phone]', 'phone', 'Phone', 'text'),
  required('job_application[resume]', 'resume', 'Resume/CV', 'file'),
  optional(answer(0, 'text_value'), 'linkedin', 'LinkedIn Profile', 'text'),
  required(
    answer(1, 'boolean_value'),
    'authorised',
    'Are you legally authorized to work in Ireland?',
    'select',
    {
      options: [
        { label: 'Yes', value: '1' },
        { label: 'No', value: '0' },
      ],
    },
  ),
  required(
    answer(2, 'answer_selected_options_attributes][0][question_option_id'),
    'source',
    'How did you hear about this job?',
    'select',
    { options: numbered(8_001, ...sourceLabels) },
  ),
  required(
    answer(3, 'answer_selected_options_attributes][][question_option_id'),
    'languages',
    'Which languages do you speak?',
    'checkboxes',
    { options: numbered(8_101, ...languageLabels), isMultiple: true },
  ),
  required(answer(4, 'text_value'), 'motivation', 'Why do you want to work here?', 'textarea'),
  optional('job_application[gender]', 'gender', 'Gender', 'select', {
    options: numbered(1, ...genderLabels),
  }),
  optional('job_application[veteran_status]', 'veteran', 'Veteran Status', 'select', {
    options: numbered(1, ...veteranLabels),
  }),
  optional('job_application[disability_status]', 'disability', 'Disability Status', 'select', {
    options: numbered(1, ...disabilityLabels),
  }),
  required(
    'job_application[data_compliance][gdpr_consent_given]',
    'consent',
    consentLabel,
    'checkbox',
    { options: numbered(1, consentLabel) },
  ),
];

/**
 * The fields for the name, the email, the phone and the resume have short ids: `first_name` for
 * `job_application[first_name]`. All others have long ids: `a_b_c` for `a[b][c]`.
 */
function idOf(name: string): string {
  const short = /^job_application\[(first_name|last_name|email|phone|resume)\]$/u.exec(name)?.[1];
  return short ?? name.replaceAll(/[^a-z0-9]+/gu, '_').replace(/_$/u, '');
}

function questionHtml(field: Field, refused: boolean): string {
  const { name, label, control, isRequired, options = [] } = field;
  const star = isRequired ? ' <span class="asterisk" aria-hidden="true">*</span>' : '';
  const id = idOf(name);
  const error = refused ? '<div class="error" role="alert">is invalid</div>' : '';
  const text = `${escapeHtml(label)}${star}<br>`;
  const number = /\[([0-9]+)\]/u.exec(name)?.[1];
  const hidden =
    number === undefined || control === 'checkboxes'
      ? ''
      : `<input type="hidden" name="${answer(Number(number), 'question_id')}" value="70${number}">`;
  if (control === 'checkboxes') {
    const boxes = options.map(
      (option) =>
        `<label for="${id}_${option.value}"><input type="checkbox" id="${id}_${option.value}" name="${name}" value="${option.value}"> ${escapeHtml(option.label)}</label><br>`,
    );
    return `<div class="field"><label>${text}</label>${boxes.join('')}${error}</div>`;
  }
  const mark = `aria-required="${isRequired}"`;
  const choices = options.map(
    (option) => `<option value="${option.value}">${escapeHtml(option.label)}</option>`,
  );
  const widget =
    control === 'textarea'
      ? `<textarea id="${id}" name="${name}" ${mark}></textarea>`
      : control === 'select'
        ? `<select id="${id}" name="${name}" ${mark}><option value="">--</option>${choices.join('')}</select>`
        : `<input type="text" id="${id}" name="${name}" ${mark} maxlength="255">`;
  return `<div class="field"><label>${text}${hidden}${widget}</label>${error}</div>`;
}

function standardHtml(field: Field, refused: boolean): string {
  const { name, label, control, isRequired, options = [] } = field;
  const star = isRequired ? ' <span class="asterisk" aria-hidden="true">*</span>' : '';
  const id = idOf(name);
  const error = refused ? '<div class="error" role="alert">is invalid</div>' : '';
  if (control === 'file') {
    return `<fieldset id="${id}_fieldset" class="field" aria-describedby="${id}-types"><legend>${escapeHtml(label)}${star}</legend><div class="link-container"><button type="button" class="unstyled-button link attach" data-source="attach" onclick="document.getElementById('${id}').click()">Attach</button><input class="visually-hidden" type="file" id="${id}" name="${name}" aria-label="${escapeHtml(label)}" tabindex="-1"></div><p id="${id}-types">File types: pdf, doc, docx, txt, rtf</p></fieldset>`;
  }
  if (control === 'checkbox') {
    return `<div class="field"><label for="${id}"><input type="checkbox" id="${id}" name="${name}" value="${options[0]?.value ?? '1'}" aria-required="true"> ${escapeHtml(label)}${star}</label></div>`;
  }
  const choices = options.map(
    (option) => `<option value="${option.value}">${escapeHtml(option.label)}</option>`,
  );
  const widget =
    control === 'select'
      ? `<select id="${id}" name="${name}"><option value="">Please select</option>${choices.join('')}</select>`
      : `<input type="text" id="${id}" name="${name}" aria-required="${isRequired}" maxlength="255">`;
  return `<div class="field"><label for="${id}">${escapeHtml(label)}${star}</label><br>${widget}${error}</div>`;
}

const isOwn = ({ name }: Field): boolean => name.includes('answers_attributes');
const flashError = (text: string): string =>
  `<div id="flash" class="flash error" role="alert">${text}</div>`;

function board(
  world: World,
  {
    refused = [],
    flash = '',
    status = 200,
  }: { refused?: readonly Field[]; flash?: string; status?: number } = {},
): FixtureAnswer {
  const { behaviour } = world;
  const html = (isCustom: boolean): string =>
    world.fields
      .filter((field) => isOwn(field) === isCustom)
      .map((field) => (isCustom ? questionHtml : standardHtml)(field, refused.includes(field)))
      .join('');
  const form = `<form id="application_form" accept-charset="UTF-8" action="${jobPath}" method="post" enctype="multipart/form-data" novalidate><input name="utf8" type="hidden" value="&#10003;">
<div id="main_fields">${html(false)}</div><div id="custom_fields" class="custom-questions">${html(true)}</div>
${captchaPart(behaviour, 'recaptcha')}<div id="submit_buttons"><input type="button" id="submit_app" class="button" value="Submit Application"></div></form>`;
  const page = formPage(world, {
    title: 'Job Application for Welder at Acme',
    before: `<main id="wrapper"><div id="header"><h1 class="app-title">Welder</h1><span class="company-name">at Acme</span></div>${flash}<div id="application"><h2 class="heading">Apply for this Job</h2><div class="required-field-notice">* Required</div>`,
    form,
    after: '</div></main>',
    wrapper: '.field',
    isControlled: false,
    data: {
      form: '#application_form',
      submit: '#submit_app',
      errorClass: 'error',
      isDoubled: behaviour === 'double-submit',
    },
    scripts: [nativeScript, ...(behaviour === 'upload-refused' ? [refuseFileScript] : [])],
  });
  return page === 'cut' ? page : { ...page, status };
}

function takeApplication(request: FixtureRequest, world: World): FixtureAnswer {
  const form = parseMultipart(request.body, request.headers['content-type'] ?? '');
  const verdict = receive(world, form, request.visit);
  switch (verdict.kind) {
    case 'accepted':
      return redirect(`${jobPath}/confirmation`);
    case 'captcha':
      return pageAnswer('Acme', flashError('captcha-failed'), { status: 428 });
    case 'fields':
      return board(world, {
        status: 422,
        refused: verdict.refused,
        flash: flashError('There was a problem with your application.'),
      });
    case 'refused':
      return pageAnswer('Acme', flashError('You have already applied for this job.'));
    case 'error':
      return pageAnswer('Error', '<h1>Something went wrong</h1>', { status: 500 });
    case 'cut':
      return 'cut';
  }
}

export const greenhouseLegacy: AtsFixture = {
  hosts: ['boards.greenhouse.example'],
  applicationPath: jobPath,
  fields,
  extraName: answer(5, 'text_value'),
  unshown: { 'multi-step': 'the board shows all questions on one page' },
  respond(request, world) {
    const { method, path } = request;
    if (path === jobPath && method === 'POST') return takeApplication(request, world);
    if (path === jobPath) {
      return world.behaviour === 'posting-closed' ? redirect('/acme?error=true') : board(world);
    }
    if (path === '/acme') {
      return pageAnswer(
        'Jobs at Acme',
        '<div id="flash_pending">The job you are looking for is no longer open.</div><h1>Current Job Openings</h1>',
      );
    }
    if (path === `${jobPath}/confirmation`) {
      return pageAnswer(
        'Thank you for applying',
        '<div id="application_confirmation"><h1>Thank you for applying.</h1><p>Your application has been received.</p></div>',
      );
    }
    return undefined;
  },
};
