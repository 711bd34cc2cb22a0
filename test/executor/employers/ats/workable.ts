import { comboboxScript } from '../pages/combobox-script.ts';
import { formPage } from '../pages/form-page.ts';
import { jsonAnswer, pageAnswer, redirect } from '../pages/html.ts';
import { submitScript } from '../pages/submit-script.ts';
import { uploadScript } from '../pages/upload-script.ts';
import { captchaPart } from '../pages/walls.ts';
import { formOfJson } from '../server/json-form.ts';
import type { FixtureAnswer, FixtureRequest } from '../server/listen.ts';
import { parseMultipart } from '../server/multipart.ts';
import { type AtsFixture, keepUpload, receive, type World } from '../server/world.ts';
import { workableFields, workableWidget } from './workable-form.ts';

/**
 * The application form on Workable's site. The page has a `<form>`, and a script sends the
 * application as JSON. The script uploads the files before that.
 */

const shortcode = 'A1B2C3D4E5';
const applyPath = `/acme/j/${shortcode}/apply/`;
const api = `/api/v1/jobs/${shortcode}`;

const combobox = comboboxScript({
  shell: '[data-input-type=select]',
  menuClass: 'select-popup',
  optionClass: '',
  shows: 'input',
  isMenuInBody: false,
});

const pageScript = String.raw`
app.on('click', '[data-ui=apply-button]', function (button, event) {
  event.preventDefault();
  app.submit();
});
app.on('submit', '[data-ui=application-form]', function (form, event) { event.preventDefault(); });
app.on('change', '[data-group] input', function (input) {
  var group = input.closest('[data-group]');
  app.values[group.dataset.group] = [].slice.call(group.querySelectorAll('input:checked'))
    .map(function (box) { return box.name; });
});
app.submissionBody = function (token) {
  var candidate = app.data.fields.map(function (field) {
    return { name: field.name, value: app.uploads[field.name] || app.values[field.name] || '' };
  });
  return { candidate: candidate, turnstileToken: token };
};
app.showErrors = function (errors) { app.showFieldErrors(errors, 'styles--error'); };
app.showBanner = function (text) {
  var banner = document.createElement('div');
  banner.setAttribute('role', 'alert');
  banner.dataset.ui = 'error-message';
  banner.textContent = text;
  document.querySelector('[data-ui=application-form]').prepend(banner);
};
app.answered = function (status, body) {
  if (status === 200 || status === 201) app.showPage('<section data-ui="success-message" role="status"><h2>Thank you!</h2><p>Your application has been submitted successfully.</p></section>');
  else if (body.code === 'captcha') app.showBanner('We could not verify that you are human. Please try again.');
  else if (status === 422) app.showErrors(Object.keys(body.errors).map(function (name) {
    return { name: name, message: body.errors[name][0] };
  }));
  else app.showBanner('Something went wrong. Please try again.');
};
`;

function applyPage(world: World): FixtureAnswer {
  const { behaviour, fields } = world;
  const own = fields.filter(({ name }) => name.startsWith('QA_'));
  const standard = fields.filter((field) => !own.includes(field) && field.name !== 'gdpr');
  const consent = fields.filter(({ name }) => name === 'gdpr');
  return formPage(world, {
    title: 'Welder - Acme',
    before:
      '<div id="app"><header><h1 data-ui="job-title">Welder</h1></header><main><h2 data-ui="application-form-title">Application form</h2>',
    form: `<form data-ui="application-form" novalidate><section data-ui="section-fields"><h3>Personal information</h3>${standard.map(workableWidget).join('')}</section>
<section data-ui="section-fields"><h3>Details</h3><div class="custom-questions">${own.map(workableWidget).join('')}</div></section>${consent.map(workableWidget).join('')}
${captchaPart(behaviour, 'turnstile')}<button type="submit" data-ui="apply-button">Submit application</button></form>`,
    after: '</main></div>',
    wrapper: '.field',
    isControlled: true,
    data: {
      uploadUrl: `${api}/form/upload/resume`,
      submitUrl: `${api}/apply`,
      isDoubled: behaviour === 'double-submit',
    },
    scripts: [combobox, uploadScript, submitScript, pageScript],
  });
}

interface Application {
  readonly candidate: readonly { readonly name: string; readonly value: unknown }[];
}

function isUpload(value: unknown): value is { url: string; filename: string } {
  return typeof value === 'object' && value !== null && 'url' in value;
}

function takeApplication({ body, visit }: FixtureRequest, world: World): FixtureAnswer {
  const { candidate }: Application = JSON.parse(body.toString('utf8'));
  const values = Object.fromEntries(
    candidate.flatMap(({ name, value }) =>
      isUpload(value)
        ? [
            [`${name}_url`, value.url],
            [`${name}_url_filename`, value.filename],
          ]
        : [[name, value]],
    ),
  );
  const verdict = receive(world, formOfJson(values, world), visit);
  switch (verdict.kind) {
    case 'accepted':
      return jsonAnswer(201, { id: verdict.confirmationId });
    case 'captcha':
      return jsonAnswer(403, { code: 'captcha', error: 'The captcha failed.' });
    case 'fields':
      return jsonAnswer(422, {
        errors: Object.fromEntries(verdict.refused.map(({ name }) => [name, ['is invalid']])),
      });
    case 'refused':
    case 'error':
      return jsonAnswer(500, { error: 'internal' });
    case 'cut':
      return 'cut';
  }
}

function takeFile(request: FixtureRequest, world: World): FixtureAnswer {
  if (world.behaviour === 'upload-refused') return jsonAnswer(422, { error: 'file type' });
  const [file] = parseMultipart(request.body, request.headers['content-type'] ?? '').files;
  if (file === undefined) return jsonAnswer(400, { error: 'no file' });
  return jsonAnswer(200, { url: keepUpload(world, { ...file, field: 'resume' }) });
}

export const workable: AtsFixture = {
  hosts: ['apply.workable.example'],
  applicationPath: applyPath,
  fields: workableFields,
  extraName: 'QA_7493899',
  unshown: {
    'multi-step': 'the hosted form shows all sections on one page',
    'refusal-200': 'the API refuses with a status of 400 or above',
  },
  respond(request, world) {
    const { method, path } = request;
    if (path === `${api}/apply` && method === 'POST') return takeApplication(request, world);
    if (path === `${api}/form/upload/resume` && method === 'POST') return takeFile(request, world);
    if (path === applyPath) {
      return world.behaviour === 'posting-closed'
        ? redirect('/acme/?not_found=true')
        : applyPage(world);
    }
    if (path === '/acme/') {
      return pageAnswer(
        'Acme - Current openings',
        '<main><div role="alert" data-ui="job-not-found">The job you are looking for is no longer available.</div><h2>Current openings</h2></main>',
      );
    }
    return undefined;
  },
};
