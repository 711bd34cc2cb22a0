import { expect, onTestFinished, test } from 'vitest';
import { type Applicant, createApplicant, expectedValues } from './applicant.ts';
import { type Employer, startEmployer } from './employer.ts';

async function startLever(): Promise<Employer> {
  const employer = await startEmployer({ ats: 'lever' });
  onTestFinished(() => employer.close());
  return employer;
}

function formOf({ fields }: Employer, applicant: Applicant): FormData {
  const form = new FormData();
  for (const field of fields) {
    const answer = applicant.answers.get(field.ask);
    if (answer?.kind === 'file') {
      const { bytes, contentType, name } = answer.file;
      form.append(field.name, new Blob([new Uint8Array(bytes)], { type: contentType }), name);
    } else for (const value of expectedValues(field, applicant)) form.append(field.name, value);
  }
  return form;
}

async function post({ url, port }: Employer, form: FormData): Promise<Response> {
  const address = `http://127.0.0.1:${port}${new URL(url).pathname}`;
  return await fetch(address, { method: 'POST', body: form, redirect: 'manual' });
}

function differencesOf(employer: Employer, applicant: Applicant): string[] {
  const [received] = employer.submissions();
  if (received === undefined) throw new Error('nothing arrived');
  return employer.differences(applicant, received);
}

test('a whole application is accepted, counted and without differences', async () => {
  const employer = await startLever();
  const applicant = createApplicant('Whole1');
  const answer = await post(employer, formOf(employer, applicant));
  expect(answer.status).toBe(302);
  expect(employer.submissions()).toHaveLength(1);
  expect(differencesOf(employer, applicant)).toEqual([]);
  const { received, sent } = employer.bytes();
  expect(received).toBeGreaterThan(20_000);
  expect(sent).toBeGreaterThan(100);
});

test('a wrong value, a value too many and another file are named', async () => {
  const employer = await startLever();
  const applicant = createApplicant('Wrong1');
  const form = formOf(employer, applicant);
  form.set('email', 'other@mail.example');
  form.append('org', 'A second company');
  form.set('resume', new Blob(['other']), 'other.pdf');
  await post(employer, form);
  const differences = differencesOf(employer, applicant);
  expect(differences).toHaveLength(3);
  expect(differences.join('\n')).toMatch(/resume:[^]*email:[^]*org:/u);
});

test('an application without a required answer is counted and refused', async () => {
  const employer = await startLever();
  const applicant = createApplicant('Missing1');
  const form = formOf(employer, applicant);
  form.delete('phone');
  const answer = await post(employer, form);
  expect(answer.status).toBe(422);
  expect(await answer.text()).toContain('Phone is not valid');
  expect(employer.submissions()).toHaveLength(1);
});

test('a fixture refuses to show a behaviour that its system does not have', async () => {
  const started = startEmployer({ ats: 'lever', behaviour: 'multi-step' });
  await expect(started).rejects.toThrow('the ATS lever cannot show the behaviour multi-step');
});
