import type { Field } from '../fields.ts';
import { comboboxScript } from '../pages/combobox-script.ts';
import { formPage } from '../pages/form-page.ts';
import { pageAnswer, redirect } from '../pages/html.ts';
import { nativeScript } from '../pages/native-script.ts';
import { refuseFileScript } from '../pages/upload-script.ts';
import { captchaPart, visibleChallenge } from '../pages/walls.ts';
import type { FixtureAnswer, FixtureRequest } from '../server/listen.ts';
import { parseMultipart } from '../server/multipart.ts';
import { type AtsFixture, receive, type World } from '../server/world.ts';
import { genericFields, genericWidget } from './generic-form.ts';

/**
 * An employer's own form. A script sends it for the behaviours `double-submit` and
 * `invisible-captcha`. Otherwise the browser checks and sends it.
 */

const jobPath = '/careers/welder/apply';
const thanksPath = '/careers/welder/thanks';

const combobox = comboboxScript({
  shell: '.combo',
  menuClass: 'combo-menu',
  optionClass: 'combo-option',
  shows: 'input',
  isMenuInBody: false,
});

const hiddenInputScript = String.raw`
app.on('change', '.combo [role=combobox]', function (input) {
  input.closest('.combo').querySelector('input[type=hidden]').value = app.values[input.id] || '';
});
`;

const stepsScript = String.raw`
app.step = 0;
app.showStep = function () {
  document.querySelectorAll('.step').forEach(function (step, index) { step.hidden = index !== app.step; });
};
app.showStep();
app.on('click', '.next', function (button) {
  var inputs = [].slice.call(button.closest('.step').querySelectorAll('input, select, textarea'));
  if (!inputs.every(function (input) { return input.reportValidity(); })) return;
  app.step += 1;
  app.showStep();
});
`;

interface Shown {
  readonly status?: number;
  readonly refused?: readonly Field[];
  readonly extra?: string;
}

function questionsHtml(fields: readonly Field[], refused: readonly Field[]): string {
  return fields
    .map((field) => {
      const html = genericWidget(field);
      if (!refused.includes(field)) return html;
      const marked = html.replace(
        ` name="${field.name}"`,
        ` name="${field.name}" aria-invalid="true" aria-describedby="${field.name}-error"`,
      );
      return `${marked}<p class="error" id="${field.name}-error" role="alert">Please enter a valid value.</p>`;
    })
    .join('');
}

function steps(fields: readonly Field[]): string {
  const parts = [fields.slice(0, 5), fields.slice(5, 9), fields.slice(9)];
  const sections = parts.map((part, index) => {
    const isLast = index === parts.length - 1;
    const button = isLast
      ? '<button type="submit">Submit application</button>'
      : '<button type="button" class="next">Next</button>';
    return `<section class="step${isLast ? ' custom-questions' : ''}"><h2>Step ${index + 1} of 3</h2>${questionsHtml(part, [])}${button}</section>`;
  });
  return sections.join('');
}

function form(world: World, { status = 200, refused = [], extra = '' }: Shown = {}): FixtureAnswer {
  const { behaviour, fields } = world;
  const hasScript = behaviour === 'double-submit' || behaviour === 'invisible-captcha';
  const isStepped = behaviour === 'multi-step';
  const own = fields.filter(({ name }) => name.startsWith('q'));
  const standard = fields.filter((field) => !own.includes(field));
  const questions = isStepped
    ? steps(fields)
    : `${questionsHtml(standard, refused)}<div class="custom-questions">${questionsHtml(own, refused)}</div>
${captchaPart(behaviour, 'recaptcha')}${extra}<button type="submit">Submit application</button>`;
  const page = formPage(world, {
    title: 'Apply: Welder at Acme',
    before:
      '<nav><form action="/search" role="search"><input type="search" name="q" aria-label="Search"><button>Search</button></form></nav><main><h1>Apply: Welder</h1>',
    form: `<form id="apply" method="post" action="${jobPath}" enctype="multipart/form-data">${questions}</form>`,
    after:
      '</main><footer><form action="/newsletter" method="post"><label>Newsletter <input type="email" name="newsletter"></label><button>Subscribe</button></form></footer>',
    wrapper: '.field',
    isControlled: false,
    data: {
      form: '#apply',
      submit: '#apply button[type=submit]',
      errorClass: 'error',
      isDoubled: behaviour === 'double-submit',
    },
    scripts: [
      combobox,
      hiddenInputScript,
      ...(hasScript ? [nativeScript] : []),
      ...(isStepped ? [stepsScript] : []),
      ...(behaviour === 'upload-refused' ? [refuseFileScript] : []),
    ],
  });
  return page === 'cut' ? page : { ...page, status };
}

function takeApplication(request: FixtureRequest, world: World): FixtureAnswer {
  const received = parseMultipart(request.body, request.headers['content-type'] ?? '');
  const verdict = receive(world, received, request.visit);
  switch (verdict.kind) {
    case 'accepted':
      return redirect(`${thanksPath}?ref=${verdict.confirmationId}`);
    case 'captcha':
      return form(world, {
        status: 403,
        extra: `<p class="error" role="alert">Please confirm that you are not a robot.</p>${visibleChallenge('recaptcha')}`,
      });
    case 'fields':
      return form(world, { status: 422, refused: verdict.refused });
    case 'refused':
      return pageAnswer(
        'Acme',
        '<main><h1>Sorry</h1><p>We could not accept your application.</p></main>',
      );
    case 'error':
      return pageAnswer('Error', '<h1>Internal Server Error</h1>', { status: 500 });
    case 'cut':
      return 'cut';
  }
}

export const generic: AtsFixture = {
  hosts: ['www.acme.example'],
  applicationPath: jobPath,
  fields: genericFields,
  extraName: 'q9',
  unshown: {},
  respond(request, world) {
    const { method, path, query } = request;
    if (path === jobPath && method === 'POST') return takeApplication(request, world);
    if (path === jobPath) {
      return world.behaviour === 'posting-closed'
        ? pageAnswer(
            'Acme',
            '<main><h1>This position is no longer available</h1><p>The posting has closed.</p></main>',
            { status: 410 },
          )
        : form(world);
    }
    if (path === thanksPath) {
      return pageAnswer(
        'Thank you',
        `<main><h1>Thank you for your application</h1><p>We have received your application. Your reference is <strong>${query.get('ref') ?? ''}</strong>.</p></main>`,
      );
    }
    return undefined;
  },
};
