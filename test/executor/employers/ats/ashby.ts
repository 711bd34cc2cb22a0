import { comboboxScript } from '../pages/combobox-script.ts';
import { formPage } from '../pages/form-page.ts';
import { jsonAnswer, pageAnswer } from '../pages/html.ts';
import { submitScript } from '../pages/submit-script.ts';
import { uploadScript } from '../pages/upload-script.ts';
import { captchaPart } from '../pages/walls.ts';
import { formOfJson } from '../server/json-form.ts';
import type { FixtureAnswer, FixtureRequest } from '../server/listen.ts';
import { parseMultipart } from '../server/multipart.ts';
import { type AtsFixture, keepUpload, receive, type World } from '../server/world.ts';
import { ashbyEntry, ashbyFields } from './ashby-form.ts';
import { ashbyScript } from './ashby-script.ts';

/**
 * A job page of Ashby. It has no form element. If the server refuses an application, its response
 * has the status 200.
 */

const posting = '/acme/8d9e0f1a-2b3c-4d5e-8f90-a1b2c3d4e5f6';

const combobox = comboboxScript({
  shell: '.ashby-application-form-input-autocomplete',
  menuClass: 'ashby-application-form-input-autocomplete-popup',
  optionClass: 'ashby-application-form-input-autocomplete-popup-result',
  shows: 'input',
  isMenuInBody: true,
});

/**
 * For each employer server, the saved answers of its forms. The key of a form is the `formId` of
 * its page.
 */
const savedByWorld = new WeakMap<World, Map<string, Record<string, unknown>>>();

function savedIn(world: World, formId: string): Record<string, unknown> {
  const saved = savedByWorld.get(world) ?? new Map<string, Record<string, unknown>>();
  savedByWorld.set(world, saved);
  const answers = saved.get(formId) ?? {};
  saved.set(formId, answers);
  return answers;
}

const style = `<style>._required_::after{content:"*";color:#a00;margin-left:.25rem}</style>`;

function jobPage(world: World): FixtureAnswer {
  const { behaviour, fields } = world;
  world.visits += 1;
  const system = fields.filter(({ name }) => name.startsWith('_systemfield_'));
  const own = fields.filter((field) => !system.includes(field));
  return formPage(world, {
    title: 'Welder @ Acme',
    before: `${style}<div id="root"><h1 class="ashby-job-posting-heading">Welder</h1><nav role="tablist"><a role="tab" href="${posting}">Overview</a><a role="tab" aria-selected="true" href="${posting}/application">Application</a></nav><main id="form" role="tabpanel">`,
    form: `<div class="ashby-application-form-autofill-input-root"><h3>Autofill from resume</h3><p>Upload your resume here to autofill key application fields.</p><input type="file" id="autofill-input" style="display:none"><button type="button" data-upload="autofill-input">Upload file</button></div>
<div class="ashby-application-form-container"><div class="ashby-application-form-section-container">${system.map(ashbyEntry).join('')}</div>
<div class="ashby-application-form-section-container custom-questions">${own.map(ashbyEntry).join('')}</div>${captchaPart(behaviour, 'recaptcha')}
<div class="ashby-application-form-errors"></div><button type="button" class="ashby-application-form-submit-button"><span>Submit Application</span></button></div>`,
    after: '</main></div>',
    wrapper: '.ashby-application-form-field-entry',
    isControlled: true,
    data: {
      formId: `render-${world.visits}`,
      uploadUrl: '/api/file-upload',
      isDoubled: behaviour === 'double-submit',
    },
    scripts: [combobox, uploadScript, submitScript, ashbyScript],
  });
}

interface Call {
  readonly operationName: string;
  readonly variables: {
    readonly formRenderIdentifier: string;
    readonly path?: string;
    readonly value?: unknown;
    readonly files?: Readonly<Record<string, { url: string; filename: string }>>;
  };
}

const action = (result: unknown, blocked: string | null = null): FixtureAnswer =>
  jsonAnswer(200, {
    data: {
      submitSingleApplicationFormAction: {
        applicationFormResult: result,
        messages: { blockMessageForCandidateHtml: blocked },
      },
    },
  });

function takeApplication(
  { variables }: Call,
  { visit }: FixtureRequest,
  world: World,
): FixtureAnswer {
  const values = { ...savedIn(world, variables.formRenderIdentifier) };
  for (const [path, { url, filename }] of Object.entries(variables.files ?? {})) {
    values[`${path}_url`] = url;
    values[`${path}_url_filename`] = filename;
  }
  const verdict = receive(world, formOfJson(values, world), visit);
  switch (verdict.kind) {
    case 'accepted':
      return action({ __typename: 'FormSubmitSuccess', _: null });
    case 'captcha':
      return jsonAnswer(200, {
        errors: [{ message: 'failed', extensions: { code: 'RECAPTCHA_SCORE_BELOW_THRESHOLD' } }],
        data: null,
      });
    case 'fields':
      return action({
        __typename: 'FormRender',
        errorMessages: verdict.refused.map(({ name }) => ({ path: name, message: 'is invalid' })),
      });
    case 'refused':
      return action(
        { __typename: 'FormSubmitSuccess', _: null },
        'You have reached the limit of applications for this company.',
      );
    case 'error':
      return pageAnswer('Error', '<h1>Internal Server Error</h1>', { status: 500 });
    case 'cut':
      return 'cut';
  }
}

function answerCall(request: FixtureRequest, world: World): FixtureAnswer {
  const call: Call = JSON.parse(request.body.toString('utf8'));
  if (call.operationName === 'ApiSetFormValue') {
    const { formRenderIdentifier, path = '', value } = call.variables;
    savedIn(world, formRenderIdentifier)[path] = value;
    return jsonAnswer(200, { data: { setFormValue: { formErrors: [] } } });
  }
  return takeApplication(call, request, world);
}

function takeFile(request: FixtureRequest, world: World): FixtureAnswer {
  if (world.behaviour === 'upload-refused') return jsonAnswer(400, { error: 'file type' });
  const { fields, files } = parseMultipart(request.body, request.headers['content-type'] ?? '');
  const [file] = files;
  if (file === undefined) return jsonAnswer(400, { error: 'no file' });
  const url = keepUpload(world, { ...file, field: fields['key']?.[0] ?? '' });
  return jsonAnswer(200, { url });
}

export const ashby: AtsFixture = {
  hosts: ['jobs.ashbyhq.example'],
  applicationPath: `${posting}/application`,
  fields: ashbyFields,
  extraName: '5b7c3a10-4e2d-4f6a-9c8b-0000000000ff',
  unshown: { 'multi-step': 'the application tab shows all questions at once' },
  respond(request, world) {
    const { method, path } = request;
    if (path === '/api/non-user-graphql' && method === 'POST') return answerCall(request, world);
    if (path === '/api/file-upload' && method === 'POST') return takeFile(request, world);
    if (path !== `${posting}/application`) return undefined;
    if (world.behaviour !== 'posting-closed') return jobPage(world);
    return pageAnswer(
      'Jobs',
      '<div id="root"><main><h1>Job not found</h1><p>The job you requested was not found.</p></main></div>',
    );
  },
};
