import { expect, test } from 'vitest';
import { form, run, startSite } from './site.fixture.ts';

/** An application counts as accepted or refused only with a proof (CONTRACT 10, "At most once"). */

const greenhousePage = `<!doctype html><title>Welder</title><h1>Welder</h1><p>Resumes from agencies are not accepted.</p>
  <form id="application-form"><div class="field-wrapper"><label for="first_name">First Name</label><input id="first_name" required></div>
  <div class="field-wrapper"><label for="last_name">Last Name</label><input id="last_name" required></div>
  <div class="field-wrapper"><label for="email">Email</label><input id="email" required></div>
  <button type="submit">Submit application</button></form><script>
  document.querySelector('form').onsubmit = async (event) => {
    event.preventDefault();
    const value = (id) => document.getElementById(id).value;
    await fetch('/acme/jobs/17', { method: 'POST', body: JSON.stringify({ first: value('first_name'), email: value('email') }) });
    setTimeout(() => { location.href = '/acme/jobs/17/confirmation'; }, 300);
  };</script>`;

test('a sentence of the posting is no refusal', async () => {
  const site = await startSite('', greenhousePage, (request, response) => {
    response.end(request.method === 'POST' ? '{}' : '<h1>Thank you for applying</h1>');
  });
  const { error } = await run(site);
  expect(error).toBeUndefined();
});

test('a redirect to a page that fails', async () => {
  const site = await startSite('', form, (request, response) => {
    if (request.method === 'POST') response.writeHead(303, { location: '/thanks' }).end();
    else {
      response.statusCode = 404;
      response.end('<h1>Not found</h1>');
    }
  });
  const { error } = await run(site);
  expect(error).toMatchObject({ code: 'node_error' });
});

test('a sentence of the posting is no confirmation', async () => {
  const page = form
    .replace(
      '<form',
      '<h2>How we hire</h2><ol><li>Your application is received and read by a recruiter.</li></ol><form',
    )
    .replace(
      '</form>',
      `</form><script>
    document.querySelector('form').onsubmit = async (event) => {
      event.preventDefault();
      await fetch('/api/candidates', { method: 'POST', body: new URLSearchParams(new FormData(event.target)) });
      document.querySelector('form').outerHTML = '<p>Something went wrong. Please try again later.</p>';
    };</script>`,
    );
  const site = await startSite('{"ok":false}', page);
  const { result } = await run(site);
  expect(result).toBeUndefined();
});

test('the page hangs after an answer that proves acceptance', async () => {
  const page = `<!doctype html><title>a</title><div class="ashby-application-form-container">
    <div data-field-path="_systemfield_name"><label for="x">Name</label><input id="x" required></div>
    <div data-field-path="_systemfield_email"><label for="y">Email</label><input id="y" type="email" required></div>
    <button class="ashby-application-form-submit-button">Submit</button></div><script>
    document.querySelector('button').onclick = async () => {
      const answer = await fetch('/api/non-user-graphql?op=ApiSubmitSingleApplicationFormAction', { method: 'POST', body: '{}' });
      await answer.text();
      for (;;);
    };</script>`;
  const body = JSON.stringify({
    data: {
      submitSingleApplicationFormAction: {
        applicationFormResult: { __typename: 'FormSubmitSuccess' },
        messages: {},
      },
    },
  });
  const site = await startSite(body, page);
  const { result } = await run(site);
  expect(result).toBeDefined();
});
