import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { type DemoEmployer, employerHost, startDemoEmployer } from './employer.ts';
import { fields } from './form.ts';
import { formPath } from './pages.ts';

async function start(): Promise<DemoEmployer> {
  const employer = await startDemoEmployer();
  onTestFinished(() => employer.close());
  return employer;
}

function filled(values: Record<string, string | File | undefined> = {}): FormData {
  const form = new FormData();
  const resume = new File(['%PDF-1.4 Ada'], 'ada <1>.pdf', { type: 'application/pdf' });
  const given = { given: 'Ada <b>', family: 'Lovelace', email: 'ada@example.com', ...values };
  const rest = { place: 'London', permit: 'Yes', consent: 'yes', resume };
  for (const [name, value] of Object.entries({ ...rest, ...given })) {
    if (value !== undefined) form.set(name, value);
  }
  return form;
}

async function apply(employer: DemoEmployer, form: FormData, headers: Record<string, string> = {}) {
  const url = new URL(formPath, employer.url);
  return fetch(url, { method: 'POST', body: form, headers, redirect: 'manual' });
}

async function statusUnder(employer: DemoEmployer, host: string, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { host };
    request({ port: employer.port, host: '127.0.0.1', path, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

it('shows what has arrived, with the name, size and hash of the file, and escapes it', async () => {
  const employer = await start();
  expect(await (await fetch(employer.url)).text()).toContain('No application has arrived yet');
  const answer = await apply(employer, filled());
  expect(answer.status).toBe(303);
  const thanks = await fetch(new URL(answer.headers.get('location') ?? '', employer.url));
  expect(await thanks.text()).toContain('Your confirmation number is');
  const page = await (await fetch(employer.url)).text();
  expect(page).toContain('Ada &lt;b&gt;');
  expect(page).toContain('ada &lt;1&gt;.pdf, 12 bytes');
  expect(page).toContain(employer.applications[0]?.file.sha256);
  expect(page).toContain('1 request has sent');
  expect(page).not.toMatch(/<b>|<1>/);
});

it.each(fields.filter(({ isRequired }) => isRequired))(
  'refuses an application without $label, and says which field is empty',
  async ({ name, label }) => {
    const employer = await start();
    const empty = name === 'resume' ? new File([], '') : undefined;
    const answer = await apply(employer, filled({ [name]: empty }));
    expect(answer.status).toBe(422);
    expect(await answer.text()).toContain(`Please answer: ${label}`);
    expect(employer.applications).toEqual([]);
  },
);

it('answers only under its own names, and shows arrivals only to people on this machine', async () => {
  const employer = await start();
  expect(await statusUnder(employer, 'attacker.example', '/')).toBe(403);
  expect(await statusUnder(employer, employerHost, '/')).toBe(404);
  expect(await statusUnder(employer, employerHost, '/count')).toBe(404);
  expect(await statusUnder(employer, employerHost, formPath)).toBe(200);
  expect(await statusUnder(employer, `localhost:${employer.port}`, '/')).toBe(200);
  const foreign = await apply(employer, filled(), { origin: 'http://attacker.example' });
  expect(foreign.status).toBe(403);
});

it('allows only its own script and style sheet, and no other host', async () => {
  const employer = await start();
  const answer = await fetch(employer.url);
  const text = await answer.text();
  const hashOf = (element: string) => {
    const [, content = ''] = new RegExp(`<${element}>([^]*)</${element}>`).exec(text) ?? [];
    return `'sha256-${createHash('sha256').update(content).digest('base64')}'`;
  };
  expect(answer.headers.get('content-security-policy')?.split('; ')).toEqual([
    "default-src 'none'",
    `style-src ${hashOf('style')}`,
    `script-src ${hashOf('script')}`,
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ]);
});

it('keeps the last twenty applications', async () => {
  const employer = await start();
  for (let n = 1; n <= 21; n += 1) await apply(employer, filled({ family: `Number ${n}` }));
  expect(employer.applications).toHaveLength(20);
  expect(employer.applications[0]?.answers[1]?.value).toBe('Number 21');
});

it('takes no body over 2 MiB', async () => {
  const employer = await start();
  const large = new File(['x'.repeat(2 * 1024 * 1024)], 'large.pdf');
  const answer = await apply(employer, filled({ resume: large })).catch(() => undefined);
  expect(answer?.status ?? 400).toBe(400);
  expect(employer.applications).toEqual([]);
});
