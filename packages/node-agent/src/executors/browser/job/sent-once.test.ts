import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { form, host, run, startSite } from './site.fixture.ts';

/** An application is sent at most once, with the values of the profile (CONTRACT 10). */

const resume = { name: 'cv.pdf', contentType: 'application/pdf', base64: 'YQ==' };

test('the last step has no text, and the page repeats the request', async () => {
  const page = `<!doctype html><title>apply</title><form>
    <div id="one"><label>Full name <input name="n" required></label><label>Email <input name="m" required></label><label>Note <input name="o"></label><button type="button">Next</button></div>
    <div id="two" hidden><label>Resume <input type="file" name="f" required></label><button type="submit">Submit application</button></div></form><script>
    const form = document.querySelector('form');
    document.querySelector('button').onclick = () => { one.hidden = true; two.hidden = false; };
    const send = () => fetch('/api/candidates', { method: 'POST', body: new FormData(form) });
    form.onsubmit = async (event) => {
      event.preventDefault();
      let answer = await send();
      if (!answer.ok) answer = await send();
      document.body.innerHTML = '<h1>Thank you for applying</h1>';
    };</script>`;
  const site = await startSite('', page, (_request, response, posts) => {
    response.statusCode = posts === 1 ? 503 : 200;
    response.end('{}');
  });
  await run(site, { profile: { files: { resume } } });
  expect(site.posts).toHaveLength(1);
});

test('a long body with the values at its end is sent once', async () => {
  const page = form.replace(
    '</form>',
    `<label>Resume <input type="file" name="f" required></label></form><script>
    document.querySelector('form').onsubmit = async (event) => {
      event.preventDefault();
      const value = (name) => document.querySelector('[name=' + name + ']').value;
      const file = document.querySelector('[name=f]').files[0];
      const resume = await new Promise((resolve) => { const reader = new FileReader(); reader.onload = () => resolve(reader.result); reader.readAsDataURL(file); });
      const send = () => fetch('/api/candidates', { method: 'POST', body: JSON.stringify({ resume, name: value('n'), email: value('m') }) });
      let answer = await send();
      if (!answer.ok) answer = await send();
      document.body.innerHTML = '<h1>Thank you for applying</h1>';
    };</script>`,
  );
  const big = Buffer.alloc(300_000, 'a');
  const sha256 = createHash('sha256').update(big).digest('hex');
  const site = await startSite('', page, (request, response, posts) => {
    if (request.method === 'GET') return void response.end(big);
    response.statusCode = posts === 1 ? 503 : 200;
    response.end('{}');
  });
  await run(site, {
    profile: {
      files: {
        resume: {
          name: 'cv.pdf',
          contentType: 'application/pdf',
          url: `http://${host}/cv.pdf`,
          sha256,
        },
      },
    },
  });
  expect(site.posts).toHaveLength(1);
});

test('a page that changes a value after the check is not sent', async () => {
  const page = form.replace(
    '</form>',
    `<input type="hidden" name="cf-turnstile-response"></form><script>
    const field = document.querySelector('form');
    let isChanged = false;
    field.addEventListener('input', () => {
      if (isChanged) return;
      isChanged = true;
      const captcha = document.createElement('iframe');
      captcha.src = '/cdn-cgi/challenge-platform/turnstile';
      captcha.style.cssText = 'width:300px;height:65px';
      document.body.append(captcha);
      setTimeout(() => { document.querySelector('[name=n]').value = 'Byron, Ada'; }, 1_500);
      setTimeout(() => { document.querySelector('[name=cf-turnstile-response]').value = 'token'; }, 2_000);
    });</script>`,
  );
  const site = await startSite('<h1>Thank you for applying</h1>', page, (request, response) => {
    response.end(request.method === 'POST' ? '<h1>Thank you for applying</h1>' : 'captcha');
  });
  await run(site);
  expect(site.posts.join('')).not.toContain('Byron%2C+Ada');
});

test('the form for job alerts is not the application', async () => {
  const page = `<!doctype html><title>Welder</title><h1>Welder</h1><a href="/form">Apply now</a>
    <form method="post" action="/alerts"><h2>Get job alerts</h2><label>First name <input name="f"></label><label>Last name <input name="l"></label><label>Email <input name="e" type="email"></label><button>Subscribe</button></form>`;
  const paths: string[] = [];
  const site = await startSite('', page, (request, response) => {
    if (request.method === 'POST') paths.push(request.url ?? '');
    response.end(request.method === 'POST' ? '<h1>Thank you for applying</h1>' : form);
  });
  await run(site);
  expect(paths).toEqual(['/apply']);
});

test('a redirect whose query has a value', async () => {
  const site = await startSite('', form, (request, response) => {
    if (request.method === 'POST')
      response.writeHead(303, { location: '/thanks?email=ada%40mail.example' }).end();
    else response.end('<h1>Thank you for applying</h1>');
  });
  const { error } = await run(site);
  expect(error).toBeUndefined();
});

const withPhone = {
  basics: { name: 'Ada Byron', email: 'ada@mail.example', phone: '+1 555 123 4567' },
};

/**
 * A page whose script runs the code `change` and enables the button, 1.5 s after the last input.
 */
const slow = (
  fields: string,
  change: string,
) => `<!doctype html><title>apply</title><form method="post" action="/apply">
  <div><label>Full name <input name="n" required></label></div><div><label>Email <input name="m" type="email" required></label></div>
  ${fields}<button disabled>Apply</button></form><script>
  let timer; let isDone = false;
  document.querySelector('form').addEventListener('input', () => {
    clearTimeout(timer);
    if (!isDone) timer = setTimeout(() => { isDone = true; ${change}; document.querySelector('button').disabled = false; }, 1500);
  });</script>`;

test('a phone number that the page formats later', async () => {
  const page = slow(
    '<div><label>Phone <input name="p" type="tel" required></label></div>',
    `document.querySelector('[name=p]').value = '(555) 123-4567'`,
  );
  const site = await startSite('<h1>Thank you for applying</h1>', page);
  const { error } = await run(site, { profile: withPhone });
  expect(error).toBeUndefined();
  expect(site.posts).toHaveLength(1);
});

test('a field that the page renders again with another id', async () => {
  const page = slow(
    '<div><label for=":r1:">Phone</label><input id=":r1:" type="tel" required></div>',
    `const old = document.getElementById(':r1:'); const box = old.parentElement; const value = old.value;
     box.innerHTML = '<label for=":r2:">Phone</label><input id=":r2:" name="p" type="tel" required>'; box.querySelector('input').value = value;`,
  );
  const site = await startSite('<h1>Thank you for applying</h1>', page);
  const { error } = await run(site, { profile: withPhone });
  expect(error).toBeUndefined();
  expect(site.posts).toHaveLength(1);
});

test('analytics at the click of the last step', async () => {
  const page = `<!doctype html><title>apply</title><form method="post" action="/apply">
   <div id="a"><label>Full name <input name="n" required></label><label>Email <input name="m" type="email" required></label><label>Note <input name="o"></label><button type="button">Next</button></div></form><script>
   document.querySelector('button').onclick = () => {
     const values = [...document.querySelectorAll('input')].map((one) => [one.name, one.value]);
     document.querySelector('form').innerHTML = values.map(([n, v]) => '<input type="hidden" name="' + n + '" value="' + v + '">').join('')
      + '<div><label>City <input name="c"></label><label>Street <input name="s"></label><label>Source <input name="t"></label></div><button>Apply</button>';
     document.querySelector('form').addEventListener('submit', () => { navigator.sendBeacon('/track', JSON.stringify({ email: values[1][1] })); });
   };</script>`;
  const site = await startSite('', page, (request, response) => {
    if (request.url === '/track') response.writeHead(204).end();
    else response.end('<h1>Thank you for applying</h1>');
  });
  const { error } = await run(site);
  expect(error).toBeUndefined();
});
