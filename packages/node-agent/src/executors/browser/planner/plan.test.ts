import { describe, expect, test } from 'vitest';
import type { FieldValue, FormField } from './form-model.ts';
import { planForm } from './plan.ts';
import { fieldOf, profileFrom } from './planner.fixture.ts';

const ada = {
  basics: {
    name: 'Ada Lovelace',
    email: 'ada@example.com',
    phone: '+44 20 7946 0000',
    location: { city: 'London', countryCode: 'GB' },
  },
  work: [{ name: 'Analytical Engines' }],
  coverLetter: 'Dear all,\nhello',
  eeo: { gender: 'Woman', race: ['Two or more', 'Other'] },
  consents: ['I agree to the privacy policy.'],
  files: { resume: { name: 'cv.pdf', contentType: 'application/pdf', base64: 'YQ==' } },
};

const answering = (question: string, answer: unknown) => ({
  ...ada,
  answers: [{ question, answer }],
});
const text = (value: string): FieldValue => ({ kind: 'text', text: value });
const options = (...labels: string[]): FieldValue => ({ kind: 'options', labels });

function planned(profile: unknown, field: FormField): FieldValue | string {
  const plan = planForm({ fields: [field] }, profileFrom(profile));
  const [list] = (['left', 'missing', 'unsupported'] as const).filter(
    (name) => plan[name].length > 0,
  );
  return plan.fills[0]?.value ?? list ?? 'lost';
}

const yesNo = { kind: 'radio', options: ['Yes', 'No'] } as const;

describe('text', () => {
  test.each<[string, unknown, FormField, FieldValue | string]>([
    ['a role is filled', ada, fieldOf('Mail', { role: 'email' }), text('ada@example.com')],
    ['a label without a role is left', ada, fieldOf('Email'), 'left'],
    ['a required one is missing', ada, fieldOf('Hobby', { isRequired: true }), 'missing'],
    [
      'an answer is matched by the label',
      answering('hobby?', 'Flying'),
      fieldOf('Hobby *'),
      text('Flying'),
    ],
    [
      'an answer is not matched by a part of the label',
      answering('Hobby', 'Flying'),
      fieldOf('Hobby and sports'),
      'left',
    ],
    [
      'an answer wins over the role',
      answering('Phone', '123'),
      fieldOf('Phone', { role: 'phone' }),
      text('123'),
    ],
    [
      'an empty answer leaves the field empty',
      answering('Phone', ''),
      fieldOf('Phone', { role: 'phone' }),
      'left',
    ],
    [
      'an empty list leaves the field empty',
      answering('Phone', []),
      fieldOf('Phone', { role: 'phone' }),
      'left',
    ],
    ['a list of one is a text', answering('Hobby', ['Flying']), fieldOf('Hobby'), text('Flying')],
    [
      'a longer list is no text',
      answering('Hobby', ['Flying', 'Chess']),
      fieldOf('Hobby', { isRequired: true }),
      'missing',
    ],
    ['a list of two races is no text', ada, fieldOf('Race', { role: 'race' }), 'left'],
    [
      'a text of just the length fits',
      ada,
      fieldOf('Mail', { role: 'email', maxLength: 15 }),
      text('ada@example.com'),
    ],
    [
      'a text that is too long is not cut',
      ada,
      fieldOf('Mail', { role: 'email', maxLength: 14, isRequired: true }),
      'missing',
    ],
    [
      'a line break is not dropped',
      ada,
      fieldOf('Letter', { role: 'coverLetterText', isMultiline: false }),
      'left',
    ],
    [
      'a line break stays',
      ada,
      fieldOf('Letter', { role: 'coverLetterText' }),
      text('Dear all,\nhello'),
    ],
    [
      'a letter as a text fills a text with the role of a file',
      ada,
      fieldOf('Letter', { role: 'coverLetterFile' }),
      text('Dear all,\nhello'),
    ],
    ['a file is no text', ada, fieldOf('Resume', { role: 'resumeFile' }), 'left'],
    ['a field without label and role is left', answering('x', 'y'), fieldOf('*'), 'left'],
    [
      'a city and a country make a location',
      ada,
      fieldOf('Place', { role: 'location' }),
      text('London, GB'),
    ],
  ])('%s', (_, profile, field, expected) => {
    expect(planned(profile, field)).toEqual(expected);
  });
});

describe('options', () => {
  const gender = {
    kind: 'select',
    options: ['Select…', 'Man', 'WOMAN', 'I decline'],
    role: 'gender',
  } as const;
  const languages = { kind: 'checkboxes', options: ['C', 'C++', 'C#', 'Ada', 'Go!'] } as const;
  const { options: _, ...late } = gender;
  test.each<[string, unknown, FormField, FieldValue | string]>([
    [
      'the option that equals the value is chosen as the page writes it',
      ada,
      fieldOf('G', gender),
      options('WOMAN'),
    ],
    ['no option is chosen by a part', { eeo: { gender: 'Wo' } }, fieldOf('G', gender), 'left'],
    [
      'no option is inferred',
      { basics: ada.basics },
      fieldOf('G', { ...gender, isRequired: true }),
      'missing',
    ],
    [
      'an option that the page does not have is unanswered',
      { eeo: { gender: 'Other' } },
      fieldOf('G', { ...gender, isRequired: true }),
      'missing',
    ],
    [
      'yes is chosen from yes and no',
      answering('Visa?', 'yes'),
      fieldOf('Visa', yesNo),
      options('Yes'),
    ],
    ['true is not yes', answering('Visa?', 'true'), fieldOf('Visa', yesNo), 'left'],
    [
      'yes is not "Yes, I am"',
      answering('Visa?', 'yes'),
      fieldOf('Visa', { ...yesNo, options: ['Yes, I am', 'No'] }),
      'left',
    ],
    [
      'one choice takes one option',
      answering('Visa?', ['Yes', 'No']),
      fieldOf('Visa', yesNo),
      'left',
    ],
    [
      'several take several, in the order of the answer',
      answering('L', ['Go', 'Ada']),
      fieldOf('L', languages),
      options('Go!', 'Ada'),
    ],
    [
      'one missing option leaves the whole group',
      answering('L', ['Ada', 'Rust']),
      fieldOf('L', languages),
      'left',
    ],
    [
      'of options that are equal after normalisation the exact one is chosen',
      answering('L', ['C++']),
      fieldOf('L', languages),
      options('C++'),
    ],
    ['without an exact one none is chosen', answering('L', ['c']), fieldOf('L', languages), 'left'],
    [
      'equal options are ambiguous',
      answering('Visa', 'Yes'),
      fieldOf('Visa', { ...yesNo, options: ['Yes', 'Yes'] }),
      'left',
    ],
    [
      'an option without a name is never chosen',
      answering('Visa', '-'),
      fieldOf('Visa', { ...yesNo, options: ['-', 'No'] }),
      'left',
    ],
    [
      'late options are searched with the label of the profile',
      ada,
      fieldOf('G', { ...late, kind: 'combobox' }),
      options('Woman'),
    ],
    [
      'a multiple select takes a list',
      ada,
      fieldOf('R', {
        kind: 'select',
        role: 'race',
        isMultiple: true,
        options: ['Other', 'Two or more'],
      }),
      options('Two or more', 'Other'),
    ],
    [
      'a single select does not take a list',
      ada,
      fieldOf('R', { kind: 'select', role: 'race', options: ['Other', 'Two or more'] }),
      'left',
    ],
    [
      'a location is found in its short form',
      ada,
      fieldOf('City', { kind: 'combobox', role: 'location', options: ['London', 'London, US'] }),
      options('London'),
    ],
    [
      'a country is its code',
      ada,
      fieldOf('Country', { kind: 'select', role: 'country', options: ['GB', 'US'] }),
      options('GB'),
    ],
    [
      'a country has many names',
      ada,
      fieldOf('Country', {
        kind: 'select',
        role: 'country',
        options: ['Vereinigtes Königreich', 'US'],
      }),
      options('Vereinigtes Königreich'),
    ],
    [
      'a country is found by the value of its option',
      ada,
      fieldOf('Country', {
        kind: 'select',
        role: 'country',
        options: ['The Kingdom', 'The States'],
        optionValues: ['GB', 'US'],
      }),
      options('The Kingdom'),
    ],
    [
      'a country is not guessed where two options name it',
      ada,
      fieldOf('Country', {
        kind: 'select',
        role: 'country',
        options: ['Great Britain', 'UK (GB)'],
      }),
      'left',
    ],
    [
      'two letters of an answer are no country',
      answering('Home', 'IN'),
      fieldOf('Home', { kind: 'select', options: ['India', 'Indiana'] }),
      'left',
    ],
    [
      'a place is found part by part',
      ada,
      fieldOf('City', {
        kind: 'select',
        role: 'location',
        options: ['Greater London, United Kingdom', 'London (United Kingdom)', 'London, Ontario'],
      }),
      options('London (United Kingdom)'),
    ],
  ])('%s', (_title, profile, field, expected) => {
    expect(planned(profile, field)).toEqual(expected);
  });

  test('late options of a location are searched with all its forms', () => {
    expect(planned(ada, fieldOf('City', { kind: 'combobox', role: 'location' }))).toEqual({
      kind: 'options',
      labels: ['London, GB'],
      spellings: ['London'],
      meaning: {
        kind: 'place',
        place: { city: 'London', region: undefined, country: 'GB', postalCode: undefined },
      },
    });
  });
});

describe('checkboxes and consents', () => {
  const policy = { kind: 'checkbox', isRequired: true } as const;
  const agree = 'I agree to the privacy policy';
  test.each<[string, unknown, FormField, FieldValue | string]>([
    ['a consent that was given is checked', ada, fieldOf(`${agree} *`, policy), { kind: 'check' }],
    [
      'a consent that was not given is missing',
      ada,
      fieldOf('I agree to the terms', policy),
      'missing',
    ],
    ['an optional one is left', ada, fieldOf('Send me news', { kind: 'checkbox' }), 'left'],
    [
      'the label of the box itself counts',
      ada,
      fieldOf('Privacy', { ...policy, options: [agree] }),
      { kind: 'check' },
    ],
    [
      'an answer can name the box',
      answering('Privacy', agree),
      fieldOf('Privacy', { ...policy, options: [agree] }),
      { kind: 'check' },
    ],
    [
      'an answer can repeat the label',
      answering('Remote', ['Remote']),
      fieldOf('Remote', policy),
      { kind: 'check' },
    ],
    ['yes names no box', answering('Remote', 'yes'), fieldOf('Remote', policy), 'missing'],
    [
      'an empty answer leaves it unchecked',
      answering(agree, []),
      fieldOf(agree, policy),
      'missing',
    ],
    ['a box without a label is never checked', answering('x', ''), fieldOf('', policy), 'missing'],
    [
      'a consent in a group is checked alone',
      ada,
      fieldOf('Consents', { kind: 'checkboxes', options: ['News', agree] }),
      options(agree),
    ],
    [
      'an answer to the group wins over the consents',
      { ...ada, answers: [{ question: 'Consents', answer: 'News' }] },
      fieldOf('Consents', { kind: 'checkboxes', options: ['News', agree] }),
      options('News'),
    ],
    [
      'a consent is no answer to a radio',
      { consents: ['Terms'] },
      fieldOf('Terms', { ...yesNo, isRequired: true }),
      'missing',
    ],
  ])('%s', (_, profile, field, expected) => {
    expect(planned(profile, field)).toEqual(expected);
  });
});

describe('dates, files and other widgets', () => {
  const start = { kind: 'date', isRequired: true } as const;
  test.each<[string, unknown, FormField, FieldValue | string]>([
    [
      'a date is entered',
      answering('Start', '2027-02-28'),
      fieldOf('Start', start),
      { kind: 'date', date: '2027-02-28' },
    ],
    [
      'a day that does not exist is unanswered',
      answering('Start', '2027-02-29'),
      fieldOf('Start', start),
      'missing',
    ],
    [
      'another notation is not converted',
      answering('Start', '28.02.2027'),
      fieldOf('Start', start),
      'missing',
    ],
    [
      'a file is attached by its role',
      ada,
      fieldOf('CV', { kind: 'file', role: 'resumeFile' }),
      { kind: 'file', file: 'resume' },
    ],
    [
      'a file that is not given is missing',
      ada,
      fieldOf('Letter', { kind: 'file', role: 'coverLetterFile', isRequired: true }),
      'missing',
    ],
    [
      'no file is attached by an answer',
      answering('Transcript', 'cv.pdf'),
      fieldOf('Transcript', { kind: 'file' }),
      'left',
    ],
    [
      'a required unknown widget is unsupported',
      answering('Map', 'x'),
      fieldOf('Map', { kind: 'unsupported', isRequired: true }),
      'unsupported',
    ],
    [
      'an optional unknown widget is left',
      answering('Map', 'x'),
      fieldOf('Map', { kind: 'unsupported' }),
      'left',
    ],
  ])('%s', (_, profile, field, expected) => {
    expect(planned(profile, field)).toEqual(expected);
  });
});

test('two equal labels share an answer, and fields keep their order', () => {
  const fields = [
    fieldOf('Visa?', { key: 'a', ...yesNo }),
    fieldOf('Email', { key: 'b', role: 'email' }),
    fieldOf('VISA *', { key: 'c', isRequired: true }),
  ];
  const { fills } = planForm({ fields }, profileFrom(answering('visa', 'No')));
  expect(fills.map(({ field, value }) => [field.key, value])).toEqual([
    ['a', options('No')],
    ['b', text('ada@example.com')],
    ['c', text('No')],
  ]);
});
