import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  profileExamples,
  profileFieldKinds,
  profileMistakes,
  profileRules,
  standardFields,
} from '@svc/contracts';
import { describe, expect, test } from 'vitest';
import { fileMessage, missingMessage, refusedMessage } from './messages.ts';
import { planForm } from './plan.ts';
import { fieldOf, payloadWith, profileFrom } from './planner.fixture.ts';
import { readProfile } from './read-profile.ts';
import { roleOfLabel } from './roles.ts';

/** The guide is the page for tenants that the gateway serves at `/docs/applicant-profile`. */

const profileDocument = readFileSync(
  path.resolve(import.meta.dirname, '../../../../../../docs/PROFILE.md'),
  'utf8',
);
const [short, answering, complete] = profileExamples.map(({ profile }) => profileFrom(profile));

test('docs/PROFILE.md has every rule, standard field, example and message of the guide', () => {
  const flat = profileDocument.replaceAll(/\s+/g, ' ');
  for (const rule of profileRules) expect(flat).toContain(rule);
  for (const { field, answer } of profileFieldKinds) {
    expect(profileDocument).toContain(`| ${field} | ${answer} |`);
  }
  for (const { member, labels } of standardFields) {
    expect(profileDocument).toContain(`| \`${member}\` | ${labels.join(', ')} |`);
  }
  for (const { message, remedy } of profileMistakes) {
    expect(profileDocument).toContain(`| ${message} | ${remedy} |`);
  }
  const blocks = [...profileDocument.matchAll(/```json\n(.*?)```/gs)].map(([, text = '']) =>
    JSON.parse(text),
  );
  expect(blocks).toEqual(profileExamples.map(({ profile }) => profile));
});

describe('the examples do what the guide says', () => {
  test('the short one fills name, email, phone and the resume', () => {
    const labels = ['First name', 'Last name', 'Email', 'Phone', 'Resume'];
    const fields = labels.map((label) => {
      const kind = label === 'Resume' ? 'file' : 'text';
      return fieldOf(label, {
        kind,
        role: roleOfLabel(label, kind) ?? 'summary',
        isRequired: true,
      });
    });
    const { fills, missing } = planForm({ fields }, short ?? profileFrom({}));
    expect(missing).toEqual([]);
    expect(fills.slice(0, 2).map(({ value }) => value)).toEqual([
      { kind: 'text', text: 'Ana' },
      { kind: 'text', text: 'Pérez' },
    ]);
  });

  test('the one with answers fills every kind of field', () => {
    const fields = [
      fieldOf('Are you authorized to work in Spain? *', { kind: 'radio', options: ['Yes', 'No'] }),
      fieldOf('Which welding methods do you know', {
        kind: 'checkboxes',
        options: ['MIG', 'MAG', 'TIG'],
      }),
      fieldOf('When can you start?', { kind: 'date' }),
      fieldOf('Why do you want to work here?'),
      fieldOf('I have read the privacy policy', { kind: 'checkbox' }),
    ];
    const { fills } = planForm({ fields }, answering ?? profileFrom({}));
    expect(fills.map(({ value }) => value)).toEqual([
      { kind: 'options', labels: ['Yes'] },
      { kind: 'options', labels: ['MIG', 'TIG'] },
      { kind: 'date', date: '2027-02-01' },
      { kind: 'text', text: 'I like large ships.' },
      { kind: 'check' },
    ]);
  });

  test('the complete one fills every standard field that it has a member for', () => {
    const roles = [...(complete?.byRole.keys() ?? [])].toSorted();
    const absent = ['twitter', 'race', 'disability', 'resumeFile', 'coverLetterFile'];
    const all = standardFields.map(({ role }) => role).filter((role) => !absent.includes(role));
    expect(roles).toEqual(all.toSorted());
    expect(complete?.files.resume?.source.kind).toBe('url');
  });
});

const file = { name: 'cv.pdf', contentType: 'application/pdf' };

/** The messages that a node sends for the mistakes in `profileMistakes`, in the same order. */
const causes: readonly string[] = [
  missingMessage([fieldOf('Phone', { role: 'phone' }), fieldOf('Do you need a visa?')]),
  refusedMessage(['Phone']),
  refusalOf({ basics: { email: {} } }),
  refusalOf({ answers: [{ question: 'Visa?', answer: false }] }),
  refusalOf({
    answers: [
      { question: 'Visa?', answer: 'Yes' },
      { question: 'visa', answer: 'No' },
    ],
  }),
  refusalOf({ answers: [{ question: '*', answer: 'x' }] }),
  refusalOf('{"basics":{"name":"Ana","name":"Ana"}}'),
  refusalOf({ basics: { summary: '\u001b' } }),
  refusalOf({ files: { resume: file } }),
  refusalOf({ files: { resume: { ...file, base64: 'data:,x' } } }),
  fileMessage('resume', 'unreachable'),
  fileMessage('resume', 'too_large'),
  fileMessage('resume', 'wrong_hash'),
];

function refusalOf(profile: unknown): string {
  const text =
    typeof profile === 'string'
      ? payloadWith({}).replace('"applicantProfile":{}', `"applicantProfile":${profile}`)
      : payloadWith(profile);
  const reading = readProfile(text);
  return reading.kind === 'invalid' ? reading.message : 'accepted';
}

test('every message of the guide is one that a node sends', () => {
  expect(profileMistakes.map(({ message }) => message)).toEqual(causes);
});
