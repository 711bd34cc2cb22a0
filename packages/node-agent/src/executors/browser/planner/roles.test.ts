import { standardFields } from '@svc/contracts';
import { expect, test } from 'vitest';
import { normaliseLabel } from './label.ts';
import { roleOfAutocomplete, roleOfLabel } from './roles.ts';

test.each([
  ['First Name *', 'givenName'],
  ['Resume/CV (required)', 'resumeFile'],
  ['E-MAIL ADDRESS', 'email'],
  ['Location (City)', 'location'],
  ['Cover letter', 'coverLetterText'],
  ['X (Twitter)', 'twitter'],
])('the standard label %j has the role %s', (label, role) => {
  expect(roleOfLabel(label)).toBe(role);
});

test('a cover letter is a file if the widget takes files', () => {
  expect(roleOfLabel('Cover Letter', 'file')).toBe('coverLetterFile');
});

test.each([
  '',
  '*',
  'Emergency contact phone',
  'Company website',
  "Referrer's name",
  'Preferred first name',
  'constructor',
  '__proto__',
])('%j has no role, because it only contains or resembles a standard label', (label) => {
  expect(roleOfLabel(label)).toBeUndefined();
});

test('no label and no token stands for two fields, except a cover letter', () => {
  const labels = standardFields
    .filter(({ role }) => role !== 'coverLetterFile')
    .flatMap((field) => field.labels.map(normaliseLabel));
  expect(labels).toEqual([...new Set(labels)]);
  const tokens = standardFields.flatMap(({ autocomplete }) => [...autocomplete]);
  expect(tokens).toEqual([...new Set(tokens)]);
});

test.each([
  ['given-name', 'givenName'],
  [' Section-a HOME  tel ', 'phone'],
  ['email webauthn', 'email'],
  ['address-level2', 'city'],
])('autocomplete=%j has the role %s', (attribute, role) => {
  expect(roleOfAutocomplete(attribute)).toBe(role);
});

test.each(['', 'on', 'off', 'nope', 'new-password', 'shipping name', 'fax tel', 'billing name'])(
  'autocomplete=%j has no role',
  (attribute) => {
    expect(roleOfAutocomplete(attribute)).toBeUndefined();
  },
);
