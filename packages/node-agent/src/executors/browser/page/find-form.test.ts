import { describe, expect, test } from 'vitest';
import { readChallenge } from './facts.ts';
import { findForm } from './find-form.ts';
import { usePages } from './page.fixture.ts';

const pages = usePages();

const form = `<form><label>Name <input name="n"></label><label>Email <input name="m"></label>
  <label>CV <input type="file" name="cv"></label><button>Apply</button></form>`;

async function find(html: string, { status = 200, hint = 'generic' } = {}) {
  const page = await pages.show(html);
  const { signal } = new AbortController();
  const found = await findForm(page, { hint, status, signal, onAction: () => {} });
  return found.kind === 'form' ? found.target.adapter.name : found.code;
}

describe('the markup decides on the adapter', () => {
  test.each([
    ['greenhouse', '<form id="application-form"><input id="first_name"></form>'],
    ['greenhouse', '<form id="application_form"><input name="job_application[first_name]"></form>'],
    ['lever', '<form id="application-form"><input id="resume-upload-input" type="file"></form>'],
    [
      'lever',
      '<form><input name="cards[7d0c][field0]"><button id="btn-submit">Submit</button></form>',
    ],
    ['ashby', '<main id="form"><div data-field-path="_systemfield_name"><input></div></main>'],
    ['workable', '<form data-ui="application-form"><input data-ui="firstname"></form>'],
    ['generic', form],
  ])('%s', async (name, html) => {
    expect(await find(html, { hint: name === 'lever' ? 'greenhouse' : 'lever' })).toBe(name);
  });

  test.each([
    [['Register your interest'], 'generic'],
    [['Submit your details', 'Find address'], 'generic'],
    [['Bewerbung absenden', 'Search school'], 'generic'],
    [['Subscribe'], 'form_unsupported'],
  ])('a form without an upload, with the buttons %j, is %s', async ([submit, other], name) => {
    const fields = ['Name', 'Email', 'City'].map((one) => `<label>${one} <input></label>`).join('');
    const second = other === undefined ? '' : `<button type="button">${other}</button>`;
    expect(await find(`<form>${fields}<button>${submit}</button>${second}</form>`)).toBe(name);
  });

  test('a form that comes late is found', async () => {
    const late = `<div id="root"></div><script>setTimeout(() => {
      document.querySelector('#root').innerHTML = '<form data-ui="application-form"><input></form>';
    }, 700)</script>`;
    expect(await find(late)).toBe('workable');
  });

  test('a form in a frame of the page is found', async () => {
    const frame = `<div id="grnhse_app"><iframe srcdoc='<form id="application-form"><input id="first_name"></form>'></iframe></div>`;
    expect(await find(`<form role="search"><input></form>${frame}`)).toBe('greenhouse');
  });

  test('the link of a posting leads to the form', async () => {
    const posting = `<h1>Welder</h1><button onclick='document.body.innerHTML = ${JSON.stringify(form)}'>Apply now</button>`;
    expect(await find(posting)).toBe('generic');
  });
});

describe('a page without a form says why', () => {
  test.each([
    ['posting_closed', '<h1>Job not found</h1>', 200],
    ['posting_closed', '<p>We are no longer accepting applications.</p>', 200],
    ['posting_closed', '<h1>404</h1>', 404],
    ['login_required', '<form><input name="u"><input type="password"></form>', 200],
    ['login_required', '<h1>Unauthorized</h1>', 401],
    ['captcha', '<form id="challenge-form">Checking your browser</form>', 403],
    ['site_unreachable', '<h1>Bad gateway</h1>', 502],
  ])('%s for %s', async (code, html, status) => {
    expect(await find(html, { status })).toBe(code);
  });
});

function frameOf(attributes: string): string {
  return `${form}<iframe ${attributes}></iframe>`;
}

async function challengeOf(html: string): Promise<string> {
  return await readChallenge(await pages.show(html));
}

describe('a captcha', () => {
  const size = 'width="304" height="78"';

  test.each([
    ['challenge', `src="about:blank?/recaptcha/api2/bframe" ${size}`],
    ['challenge', `title="Main content of the hCaptcha challenge" ${size}`],
    ['checkbox', `src="about:blank?/recaptcha/api2/anchor&size=normal" ${size}`],
    ['checkbox', `src="about:blank?hcaptcha#frame=checkbox" ${size}`],
    ['checkbox', `src="about:blank?challenges.cloudflare.com" ${size}`],
    ['none', `src="about:blank?/recaptcha/api2/anchor&size=invisible" ${size}`],
    ['none', `src="about:blank?/recaptcha/api2/bframe" ${size} style="visibility:hidden"`],
    [
      'none',
      `src="about:blank?/recaptcha/api2/bframe" ${size} style="position:absolute;top:-9999px"`,
    ],
    ['none', `src="about:blank?hcaptcha" style="display:none"`],
    ['none', `title="video" ${size}`],
  ])('is %s for %s', async (challenge, attributes) => {
    expect(await challengeOf(frameOf(attributes))).toBe(challenge);
  });

  test('that only a script or a text mentions asks for nothing', async () => {
    const html = `${form}<script>window.captcha = 'recaptcha'</script><textarea name="g-recaptcha-response" style="display:none"></textarea><p>This site is protected by reCAPTCHA.</p>`;
    expect(await challengeOf(html)).toBe('none');
  });

  test('that has its token asks for nothing more', async () => {
    const frame = frameOf(`src="about:blank?challenges.cloudflare.com" ${size}`);
    const token = '<input type="hidden" name="cf-turnstile-response" value="solved">';
    expect(await challengeOf(frame + token)).toBe('none');
  });
});
