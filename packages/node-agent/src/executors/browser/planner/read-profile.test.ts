import { bodyBytesMax, failureMessageLengthMax } from '@svc/domain';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FieldRole } from './form-model.ts';
import { payloadWith, profileFrom } from './planner.fixture.ts';
import { readProfile } from './read-profile.ts';

function messageFor(applicantProfile: unknown): string | undefined {
  const reading = readProfile(payloadWith(applicantProfile));
  return reading.kind === 'invalid' ? reading.message : undefined;
}

function textOf(applicantProfile: unknown, role: FieldRole): string | undefined {
  const value = profileFrom(applicantProfile).byRole.get(role);
  return value?.kind === 'text' ? value.text : undefined;
}

function payloadText(profileText: string): string {
  return `{"applicationUrl":"https://jobs.example.com/1","atsType":"lever","applicantProfile":${profileText}}`;
}

describe('what a payload must be', () => {
  test('the URL, the hint and the profile are read', () => {
    expect(readProfile(payloadWith({}))).toMatchObject({
      kind: 'profile',
      applicationUrl: 'https://jobs.example.com/apply/8841',
      atsType: 'generic',
    });
  });

  test.each([
    ['', 'The payload is not valid JSON.'],
    ['[]', 'The payload must be an object.'],
    [`"${'x'.repeat(bodyBytesMax)}"`, 'The payload has more than 262144 bytes.'],
    [`"${'é'.repeat(bodyBytesMax / 2)}"`, 'The payload has more than 262144 bytes.'],
    ['{}', 'applicationUrl must be an http or https URL.'],
    ['{"applicationUrl":"file:///etc/passwd"}', 'applicationUrl must be an http or https URL.'],
    ['{"applicationUrl":"https://a.example"}', 'atsType must be a string.'],
    [payloadText('[]'), 'applicantProfile must be an object.'],
    [payloadText('null'), 'applicantProfile must be an object.'],
    [
      payloadText(`{"a":${'['.repeat(64)}${']'.repeat(64)}}`),
      'applicantProfile may be at most 64 levels deep.',
    ],
    [payloadText('{"basics":{"name":"a","name":"b"}}'), 'basics.name appears twice.'],
    [
      payloadText('{"basics":{"name":"\\ud800"}}'),
      'basics.name must have neither U+0000 nor a lone surrogate.',
    ],
  ])('%.80s is refused', (text, message) => {
    expect(readProfile(text)).toEqual({ kind: 'invalid', message });
  });
});

describe('a malformed member is named, and its value is not', () => {
  const secret = 'canary-5c1e';
  const file = { name: 'cv.pdf', contentType: 'application/pdf', base64: 'YQ==' };
  const sha256 = 'a'.repeat(64);
  test.each<[unknown, string]>([
    [{ basics: secret }, 'basics must be an object.'],
    [{ basics: { email: [secret] } }, 'basics.email must be a string.'],
    [{ basics: { email: true } }, 'basics.email must be a string.'],
    [{ basics: { name: secret.repeat(100) } }, 'basics.name must have 1024 characters or fewer.'],
    [
      { basics: { name: `${secret}\u0007` } },
      'basics.name must have no control characters except tabs and line breaks.',
    ],
    [{ work: [{ name: 'A' }, secret] }, 'work[1] must be an object.'],
    [{ work: [null] }, 'work[0] must be an object.'],
    [{ answers: { [secret]: 'x' } }, 'answers must be an array.'],
    [{ answers: [{ answer: secret }] }, 'answers[0].question is required.'],
    [{ answers: [{ question: 'Visa?' }] }, 'answers[0].answer is required.'],
    [
      { answers: [{ question: 'Visa?', answer: true }] },
      'answers[0].answer must be a string or an array.',
    ],
    [{ answers: [{ question: 'Visa?', answer: [{}] }] }, 'answers[0].answer[0] must be a string.'],
    [
      { answers: [{ question: '*', answer: secret }] },
      'answers[0].question must have a letter or a digit.',
    ],
    [
      {
        answers: [
          { question: 'Visa?', answer: 'Yes' },
          { question: 'visa *', answer: secret },
        ],
      },
      'answers[1] repeats a question with a different answer.',
    ],
    [{ consents: secret }, 'consents must be an array.'],
    [{ consents: [true] }, 'consents[0] must be a string.'],
    [{ consents: ['I agree', '!'] }, 'consents[1] must have a letter or a digit.'],
    [{ eeo: { gender: false } }, 'eeo.gender must be a string or an array.'],
    [{ files: { resume: { ...file, name: undefined } } }, 'files.resume.name is required.'],
    [
      { files: { resume: { ...file, name: `../${secret}` } } },
      'files.resume.name must be a file name without a path.',
    ],
    [
      { files: { resume: { ...file, contentType: secret } } },
      'files.resume.contentType must be a media type such as application/pdf.',
    ],
    [
      { files: { resume: { ...file, base64: `data:text/plain;base64,${secret}` } } },
      'files.resume.base64 must be padded base64 without line breaks and without a prefix.',
    ],
    [
      {
        files: { coverLetter: { ...file, base64: undefined, url: `https://a.example/${secret}` } },
      },
      'files.coverLetter must have either base64, or url with sha256.',
    ],
    [
      { files: { resume: { ...file, url: 'https://a.example/', sha256 } } },
      'files.resume must have either base64, or url with sha256.',
    ],
    [
      {
        files: {
          resume: { ...file, base64: undefined, url: 'https://a.example/', sha256: secret },
        },
      },
      'files.resume.sha256 must be 64 hexadecimal digits.',
    ],
    [
      { files: { resume: { ...file, base64: undefined, url: `ftp://${secret}/`, sha256 } } },
      'files.resume.url must be an http or https URL without credentials.',
    ],
    [
      {
        files: {
          resume: { ...file, base64: undefined, url: `https://u:${secret}@a.example/`, sha256 },
        },
      },
      'files.resume.url must be an http or https URL without credentials.',
    ],
  ])('%.100j', (profile, message) => {
    expect(messageFor(profile)).toBe(message);
  });

  test('any JSON is read or refused with a short message, and nothing throws', () => {
    const keys = fc.constantFrom(
      'basics',
      'name',
      'answers',
      'question',
      'answer',
      'files',
      'resume',
      'work',
      '__proto__',
      'x',
    );
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        fc.string({ unit: 'binary' }),
        fc.constantFrom(null, true, 1.5),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(keys, tie('tree'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(keys, tree), (profile) => {
        const message = messageFor(profile) ?? '';
        expect(Array.from(message).length).toBeLessThanOrEqual(failureMessageLengthMax);
      }),
      { numRuns: 300 },
    );
  });
});

describe('lenient reading', () => {
  test('unknown members, null members and other kinds of unused members are accepted', () => {
    const profile = {
      $schema: 1,
      interests: ['\u000b'],
      skills: 'x',
      basics: { name: null, label: 7, image: [] },
      work: null,
    };
    expect(messageFor(profile)).toBeUndefined();
  });

  test('a profile of exactly the allowed depth is accepted', () => {
    const text = payloadText(`{"a":${'['.repeat(63)}${']'.repeat(63)}}`);
    expect(readProfile(text).kind).toBe('profile');
  });

  test('a number keeps all its digits', () => {
    const text = payloadText(
      '{"basics":{"phone":4930901820000000000001},"answers":[{"question":"Salary","answer":1.50}]}',
    );
    const reading = readProfile(text);
    if (reading.kind === 'invalid') throw new Error(reading.message);
    const { byRole, answers } = reading.profile;
    expect(byRole.get('phone')).toMatchObject({ text: '4930901820000000000001' });
    expect(answers.get('salary')).toMatchObject({ text: '1.50' });
  });

  test('line breaks become line feeds, and white space at the ends is dropped', () => {
    expect(textOf({ coverLetter: ' Dear all,\r\n\r\nhello\r ' }, 'coverLetterText')).toBe(
      'Dear all,\n\nhello',
    );
  });

  test('an empty text is no value', () => {
    expect(profileFrom({ basics: { email: ' ' }, eeo: { gender: '', race: [] } }).byRole.size).toBe(
      0,
    );
  });

  test('the same answer twice is accepted', () => {
    const answers = [
      { question: 'Visa?', answer: 'No' },
      { question: 'VISA', answer: 'No ' },
    ];
    expect(profileFrom({ answers }).answers.size).toBe(1);
  });
});

describe('names', () => {
  test.each([
    [{ name: 'Ada Lovelace' }, ['Ada', 'Lovelace', 'Ada Lovelace']],
    [
      { name: ' Gabriel  García Márquez ' },
      ['Gabriel  García', 'Márquez', 'Gabriel  García Márquez'],
    ],
    [{ name: 'Sukarno' }, [undefined, undefined, 'Sukarno']],
    [
      { givenName: 'Gabriel', familyName: 'García Márquez' },
      ['Gabriel', 'García Márquez', 'Gabriel García Márquez'],
    ],
    [
      { name: 'García M., Gabriel', givenName: 'Gabriel', familyName: 'García' },
      ['Gabriel', 'García', 'García M., Gabriel'],
    ],
    [{ name: 'Ada Lovelace', givenName: 'Ada' }, ['Ada', undefined, 'Ada Lovelace']],
    [{ name: 'Ada Lovelace', givenName: ' ', familyName: '' }, ['Ada', 'Lovelace', 'Ada Lovelace']],
    [{ familyName: 'Lovelace' }, [undefined, 'Lovelace', undefined]],
    [{}, [undefined, undefined, undefined]],
  ])('%j', (basics, names) => {
    const roles = ['givenName', 'familyName', 'fullName'] as const;
    expect(roles.map((role) => textOf({ basics }, role))).toEqual(names);
  });
});

const withProfiles = (...profiles: object[]) => ({ basics: { profiles } });

describe('profiles on networks', () => {
  test.each<[unknown, FieldRole, string | undefined]>([
    [
      withProfiles({ network: 'LinkedIn', url: 'https://a.example/me' }),
      'linkedin',
      'https://a.example/me',
    ],
    [
      withProfiles({ url: 'https://www.linkedin.com/in/ada' }),
      'linkedin',
      'https://www.linkedin.com/in/ada',
    ],
    [withProfiles({ network: 'GitHub', url: 'github.com/ada' }), 'github', 'github.com/ada'],
    [withProfiles({ url: 'github.com/ada' }), 'github', 'github.com/ada'],
    [withProfiles({ network: 'X', url: 'https://x.com/ada' }), 'twitter', 'https://x.com/ada'],
    [
      withProfiles({ url: 'https://mobile.twitter.com/ada' }),
      'twitter',
      'https://mobile.twitter.com/ada',
    ],
    [
      withProfiles(
        { url: 'https://github.com/team' },
        { network: 'github', url: 'https://github.com/ada' },
      ),
      'github',
      'https://github.com/ada',
    ],
    [withProfiles({ network: 'GitHub', username: 'ada' }), 'github', undefined],
    [withProfiles({ url: 'https://notgithub.com/ada' }), 'github', undefined],
    [withProfiles({ url: 'https://github.com.evil.example/ada' }), 'github', undefined],
    [withProfiles({ url: 'https://example.com/?x.com' }), 'twitter', undefined],
    [withProfiles({ url: 'http://[' }), 'twitter', undefined],
  ])('%j, %s: %s', (profile, role, url) => {
    expect(textOf(profile, role)).toBe(url);
  });
});

describe('the current company, and the latest education', () => {
  test.each<[object[], string | undefined]>([
    [
      [
        { name: 'Old', endDate: '2020-01' },
        { name: 'Now', startDate: '2020-02' },
      ],
      'Now',
    ],
    [[{ name: 'Now', endDate: 'Present' }], 'Now'],
    [[{ name: 'Now', endDate: '' }], 'Now'],
    [
      [
        { name: 'A', startDate: '2019' },
        { name: 'B', startDate: '2021-05' },
      ],
      'B',
    ],
    [[{ name: 'A' }, { name: 'B' }], 'A'],
    [[{ name: 'Old', endDate: '2020-01' }], undefined],
    [[], undefined],
  ])('%j: %s', (work, company) => {
    expect(textOf({ work }, 'company')).toBe(company);
  });

  test('the education that ends last fills the school', () => {
    const education = [
      { institution: 'School', endDate: '2010' },
      { institution: 'University', endDate: '2015-07' },
    ];
    expect(textOf({ education }, 'school')).toBe('University');
    expect(textOf({ education: [{ institution: 'College' }, ...education] }, 'school')).toBe(
      'College',
    );
  });
});

describe('locations', () => {
  test.each([
    [
      { city: 'Berlin', region: 'BE', countryCode: 'DE' },
      ['Berlin, BE, DE', 'Berlin, BE', 'Berlin, DE', 'Berlin'],
    ],
    [{ city: 'Berlin', countryCode: 'DE' }, ['Berlin, DE', 'Berlin']],
    [{ city: 'Berlin' }, ['Berlin']],
  ])('%j', (location, [text, ...spellings]) => {
    const { byRole } = profileFrom({ basics: { location } });
    expect(byRole.get('location')).toEqual({ kind: 'text', text, spellings });
    expect(textOf({ basics: { location } }, 'city')).toBe('Berlin');
  });

  test('without a city there is no location', () => {
    expect(textOf({ basics: { location: { countryCode: 'DE' } } }, 'location')).toBeUndefined();
  });
});

describe('files', () => {
  test('a file in the payload is decoded', () => {
    const resume = { name: 'cv.pdf', contentType: 'application/pdf', base64: 'JVBERg==' };
    const { files } = profileFrom({ files: { resume } });
    expect(files.resume).toMatchObject({ name: 'cv.pdf', contentType: 'application/pdf' });
    const source = files.resume?.source;
    expect(source?.kind === 'inline' && Buffer.from(source.bytes).toString()).toBe('%PDF');
  });

  test('a file at a URL keeps its address and its hash in lower case', () => {
    const resume = {
      name: 'cv.pdf',
      contentType: 'application/pdf',
      url: 'https://files.example.com/cv?token=1',
      sha256: 'AB'.repeat(32),
    };
    expect(profileFrom({ files: { resume } }).files.resume?.source).toEqual({
      kind: 'url',
      url: 'https://files.example.com/cv?token=1',
      sha256: 'ab'.repeat(32),
    });
  });
});
