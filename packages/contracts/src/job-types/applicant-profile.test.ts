import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { applicantProfileSchema } from './applicant-profile.ts';
import { profileExamples } from './profile-guide.ts';

const served: object = JSON.parse(JSON.stringify(applicantProfileSchema()));
const ajv = new Ajv2020({ allErrors: true, strictTypes: 'log', allowUnionTypes: true });
const validate = ajv.compile(served);

test('the served schema is a valid JSON Schema 2020-12 that stands alone', () => {
  expect(served).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema' });
  expect(ajv.validateSchema(served)).toBe(true);
  expect(JSON.stringify(served)).not.toContain('"$ref"');
});

test('the copy in the repository is what the gateway serves; if not, run this file with --update', async () => {
  await expect(`${JSON.stringify(served, null, 2)}\n`).toMatchFileSnapshot(
    '../../openapi/ats-application-profile.json',
  );
});

test.each(profileExamples)('the example is valid: $title', ({ profile }) => {
  expect(validate(profile)).toBe(true);
});

/** A shortened copy of the sample of jsonresume.org. */
const jsonResume = {
  $schema: 'https://raw.githubusercontent.com/jsonresume/resume-schema/v1.0.0/schema.json',
  basics: {
    name: 'Richard Hendriks',
    label: 'Programmer',
    image: '',
    email: 'richard.hendriks@mail.com',
    phone: '(912) 555-4321',
    url: 'http://richardhendricks.example.com',
    summary: 'Richard hails from Tulsa.',
    location: {
      address: '2712 Broadway St',
      postalCode: 'CA 94115',
      city: 'San Francisco',
      countryCode: 'US',
      region: 'California',
    },
    profiles: [{ network: 'Twitter', username: 'neutralthoughts', url: '' }],
  },
  work: [
    { name: 'Pied Piper', position: 'CEO', startDate: '2013-12-01', highlights: ['Built it'] },
  ],
  education: [
    { institution: 'University of Oklahoma', area: 'IT', studyType: 'Bachelor', courses: [] },
  ],
  skills: [{ name: 'Web', keywords: ['HTML'] }],
  meta: { canonical: 'x', version: 'v1.0.0' },
};

test('a JSON Resume without the additional members is valid', () => {
  expect(validate(jsonResume)).toBe(true);
  expect(validate({})).toBe(true);
});

describe('a profile that a node would refuse is invalid', () => {
  const file = { name: 'cv.pdf', contentType: 'application/pdf' };
  const url = 'https://files.example.com/cv.pdf';
  const sha256 = 'a'.repeat(64);
  test.each<[unknown]>([
    [[]],
    [{ basics: [] }],
    [{ basics: { email: 1 } }],
    [{ basics: { name: 'x'.repeat(1025) } }],
    [{ work: {} }],
    [{ answers: [{ question: '', answer: '' }] }],
    [{ answers: [{ question: 'Visa?' }] }],
    [{ answers: [{ question: 'Visa?', answer: true }] }],
    [{ answers: [{ question: 'Visa?', answer: [1] }] }],
    [{ consents: 'I agree' }],
    [{ eeo: { race: {} } }],
    [{ files: { resume: file } }],
    [{ files: { resume: { ...file, url } } }],
    [{ files: { resume: { ...file, url, sha256: 'abc' } } }],
    [{ files: { resume: { ...file, url, sha256, base64: 'YQ==' } } }],
    [{ files: { resume: { ...file, base64: 'YQ==', name: 'a/b' } } }],
    [{ files: { resume: { ...file, base64: 'YQ==', contentType: 'pdf' } } }],
  ])('%.90j', (profile) => {
    expect(validate(profile)).toBe(false);
  });
});
