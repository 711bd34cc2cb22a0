import { comboboxScript } from '../pages/combobox-script.ts';
import { formPage } from '../pages/form-page.ts';
import { jsonAnswer, pageAnswer } from '../pages/html.ts';
import { submitScript } from '../pages/submit-script.ts';
import { uploadScript } from '../pages/upload-script.ts';
import { captchaPart } from '../pages/walls.ts';
import { formOfJson, type JsonValues } from '../server/json-form.ts';
import type { FixtureAnswer, FixtureRequest } from '../server/listen.ts';
import { parseMultipart } from '../server/multipart.ts';
import { type AtsFixture, keepUpload, receive, type World } from '../server/world.ts';
import { greenhouseFields, greenhouseWidget } from './greenhouse-form.ts';

/**
 * The new Greenhouse job board, as a page and in a frame. It uploads files to a store on another
 * host, and then sends JSON with the addresses of these files.
 */

const boardHost = 'job-boards.greenhouse.example';
const storeHost = 'uploads.greenhouse.example';
/**
 * The host to which a board sends the application if the board is a whole page. A board in a frame
 * sends the application to `boardHost`.
 */
const submitHost = 'boards.greenhouse.example';
const careersHost = 'careers.acme.example';
const jobPath = '/acme/jobs/4000100';
const framePath = '/embed/job_app';

const whyNoMultiStep = 'the board shows all questions on one page';
const whyNoRefusal200 = 'the board never refuses with status 200';
const openLabel = 'Thank you for applying.';

const combobox = comboboxScript({
  shell: '.select-shell',
  menuClass: 'select__menu',
  optionClass: 'select__option',
  shows: 'text',
  isMenuInBody: false,
});

const pageScript = String.raw`
app.on('click', 'form#application-form button[type=submit]', function (button, event) {
  event.preventDefault();
  app.submit();
});
app.on('submit', 'form#application-form', function (form, event) { event.preventDefault(); });
app.submissionBody = function (token) {
  var application = {};
  app.data.fields.forEach(function (field) {
    var upload = app.uploads[field.name];
    if (upload) {
      application[field.name + '_url'] = upload.url;
      application[field.name + '_url_filename'] = upload.filename;
    } else if (field.control !== 'file') application[field.name] = app.values[field.name] || '';
  });
  return { job_application: application, 'g-recaptcha-enterprise-token': token, fingerprint: 'fixture' };
};
app.showErrors = function (errors) { app.showFieldErrors(errors, 'helper-text helper-text--error'); };
app.showBanner = function (text) {
  var banner = document.createElement('div');
  banner.className = 'banner banner--error';
  banner.setAttribute('role', 'alert');
  banner.textContent = text;
  document.querySelector('form#application-form').prepend(banner);
};
app.answered = function (status, body) {
  if (status === 200) location.assign(app.data.confirmationUrl);
  else if (status === 428) app.showBanner('We could not verify that you are human. Please try again.');
  else if (status === 422) app.showErrors(Object.keys(body.errors).map(function (name) {
    return { name: name, message: body.errors[name][0] };
  }));
  else app.showBanner('Something went wrong. Please try again later.');
};
`;

function board(world: World, isFramed: boolean): FixtureAnswer {
  const { behaviour, fields } = world;
  const custom = fields.filter(({ name }) => name.startsWith('question_'));
  const standard = fields.filter((field) => !custom.includes(field));
  const form = `<form id="application-form" class="application--form" method="post" novalidate><h2>Apply for this job</h2><p><span class="required">*</span> indicates a required field</p>
<div class="application--questions">${standard.map(greenhouseWidget).join('')}</div>
<div class="application--questions custom-questions">${custom.map(greenhouseWidget).join('')}</div>
${captchaPart(behaviour, 'recaptcha')}
<div class="application--submit"><button type="submit" class="btn btn--rounded">Submit application</button></div></form>`;
  return formPage(world, {
    title: 'Job Application for Welder at Acme',
    before: `<main class="main"><div class="job__title"><h1>Welder</h1></div><button type="button" aria-label="Apply" class="btn btn--pill">Apply</button>`,
    form,
    after: '</main>',
    wrapper: '.field-wrapper',
    isControlled: true,
    data: {
      uploadUrl: `http://${storeHost}/`,
      submitUrl: isFramed ? `/embed${jobPath}` : `http://${submitHost}${jobPath}`,
      confirmationUrl: isFramed
        ? `${framePath}/confirmation?for=acme&token=4000100`
        : `${jobPath}/confirmation`,
      isDoubled: behaviour === 'double-submit',
    },
    scripts: [combobox, uploadScript, submitScript, pageScript],
  });
}

const cors = {
  'access-control-allow-origin': `http://${boardHost}`,
  'access-control-allow-headers': 'content-type',
  'access-control-allow-methods': 'POST',
};

function takeFile(request: FixtureRequest, world: World): FixtureAnswer {
  const allow = { 'access-control-allow-origin': '*' };
  if (world.behaviour === 'upload-refused') return { status: 403, headers: allow };
  const { fields, files } = parseMultipart(request.body, request.headers['content-type'] ?? '');
  const [file] = files;
  if (file === undefined) return { status: 400, headers: allow };
  const field = fields['key']?.[0] ?? '';
  const address = keepUpload(world, { ...file, field });
  return jsonAnswer(201, { url: `http://${storeHost}${address}` }, allow);
}

function takeApplication(request: FixtureRequest, world: World): FixtureAnswer {
  const parsed: { job_application: JsonValues } = JSON.parse(request.body.toString('utf8'));
  const verdict = receive(world, formOfJson(parsed.job_application, world), request.visit);
  switch (verdict.kind) {
    case 'accepted':
      return jsonAnswer(200, { status: 'ok' }, cors);
    case 'captcha':
      return jsonAnswer(428, { code: 'captcha-failed' }, cors);
    case 'fields': {
      const errors = verdict.refused.map(({ name }) => [name, ['is invalid']]);
      return jsonAnswer(422, { errors: Object.fromEntries(errors) }, cors);
    }
    case 'refused':
    case 'error':
      return jsonAnswer(500, { error: 'internal' }, cors);
    case 'cut':
      return 'cut';
  }
}

function closed(): FixtureAnswer {
  return pageAnswer(
    'Jobs at Acme',
    '<main><div class="flash-pending" role="alert">The job you are looking for is no longer open.</div><h1>Current openings at Acme</h1><p>There are no current openings.</p></main>',
  );
}

function confirmation(): FixtureAnswer {
  return pageAnswer(
    'Thank you for applying',
    `<main class="confirmation"><div class="confirmation__content"><h1>${openLabel}</h1><p>Your application has been received. If there is a fit, somebody will be in touch.</p></div></main>`,
  );
}

function respondAsBoard(
  request: FixtureRequest,
  world: World,
  isFramed: boolean,
): FixtureAnswer | undefined {
  const { method, host, path } = request;
  if (host === storeHost && method === 'POST') return takeFile(request, world);
  if (path === (isFramed ? `/embed${jobPath}` : jobPath)) {
    if (method === 'OPTIONS') return { status: 204, headers: cors };
    if (method === 'POST') return takeApplication(request, world);
  }
  if (path.endsWith('/confirmation')) return confirmation();
  if (path === (isFramed ? framePath : jobPath)) {
    return world.behaviour === 'posting-closed' ? closed() : board(world, isFramed);
  }
  return undefined;
}

export const greenhouse: AtsFixture = {
  hosts: [boardHost, submitHost, storeHost],
  applicationPath: jobPath,
  fields: greenhouseFields,
  extraName: 'question_4000199',
  unshown: { 'multi-step': whyNoMultiStep, 'refusal-200': whyNoRefusal200 },
  respond: (request, world) => respondAsBoard(request, world, false),
};

/**
 * The employer's own page. Its script adds the frame of the board, as Greenhouse's public script
 * for embedding does.
 */
function careersPage(): FixtureAnswer {
  const source = `http://${boardHost}${framePath}?for=acme&token=4000100`;
  return pageAnswer(
    'Welder - Acme careers',
    `<header><form action="/search" role="search"><label for="q">Search jobs</label><input id="q" name="q" type="search"><button type="submit">Search</button></form></header>
<main><h1>Welder</h1><p>Weld things with us.</p><div id="grnhse_app"></div></main><script>
var frame = document.createElement('iframe');
frame.id = 'grnhse_iframe';
frame.title = 'Greenhouse Job Board';
frame.width = '100%';
frame.height = '1800';
frame.src = ${JSON.stringify(source)};
document.getElementById('grnhse_app').append(frame);
</script>`,
  );
}

export const greenhouseEmbed: AtsFixture = {
  hosts: [careersHost, boardHost, storeHost],
  applicationPath: '/jobs/welder?gh_jid=4000100',
  fields: greenhouseFields,
  extraName: 'question_4000199',
  unshown: { 'multi-step': whyNoMultiStep, 'refusal-200': whyNoRefusal200 },
  respond(request, world) {
    return request.host === careersHost && request.path === '/jobs/welder'
      ? careersPage()
      : respondAsBoard(request, world, true);
  },
};
