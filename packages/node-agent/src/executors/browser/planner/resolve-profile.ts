import {
  ApplicantProfile as ProfileSchema,
  type ApplicantProfile as ProfileDocument,
  memberOf,
  membersOf,
} from '@svc/contracts';
import type { FieldRole } from './form-model.ts';
import { normaliseLabel } from './label.ts';
import { fileOf } from './profile-files.ts';
import type { ApplicantProfile, ProfileValue } from './profile.ts';
import { standardTexts } from './standard-texts.ts';

export type Resolution =
  | { readonly kind: 'resolved'; readonly profile: ApplicantProfile }
  | { readonly kind: 'invalid'; readonly message: string };

/**
 * Converts a profile that matches the schema into the `ApplicantProfile` that the planner reads.
 * Refuses a profile with a fault that the schema does not describe.
 */
export function resolveProfile(document: ProfileDocument): Resolution {
  const control = controlCharacterIn(ProfileSchema, document);
  if (control !== undefined) {
    return invalid(`${control} must have no control characters except tabs and line breaks.`);
  }
  const answers = new Map<string, ProfileValue>();
  for (const [index, { question, answer }] of (document.answers ?? []).entries()) {
    const key = normaliseLabel(question);
    const value = valueOf(answer);
    if (key === '') return invalid(`answers[${index}].question must have a letter or a digit.`);
    if (!isSame(answers.get(key) ?? value, value)) {
      return invalid(`answers[${index}] repeats a question with a different answer.`);
    }
    answers.set(key, value);
  }
  const consents = new Set<string>();
  for (const [index, label] of (document.consents ?? []).entries()) {
    const key = normaliseLabel(label);
    if (key === '') return invalid(`consents[${index}] must have a letter or a digit.`);
    consents.add(key);
  }
  const resume = fileOf('resume', document.files?.resume);
  if (resume?.kind === 'invalid') return resume;
  const coverLetter = fileOf('coverLetter', document.files?.coverLetter);
  if (coverLetter?.kind === 'invalid') return coverLetter;
  const files = {
    ...(resume === undefined ? {} : { resume: resume.file }),
    ...(coverLetter === undefined ? {} : { coverLetter: coverLetter.file }),
  };
  const byRole = rolesOf(document);
  const { city, region, countryCode: country, postalCode } = document.basics?.location ?? {};
  const place = { city, region, country, postalCode };
  return { kind: 'resolved', profile: { byRole, place, answers, consents, files } };
}

function invalid(message: string): Resolution & { readonly kind: 'invalid' } {
  return { kind: 'invalid', message };
}

/**
 * The values of the standard fields. A text that contains nothing but white space counts as absent,
 * and so does an empty list of labels.
 */
function rolesOf(document: ProfileDocument): ReadonlyMap<FieldRole, ProfileValue> {
  const byRole = new Map<FieldRole, ProfileValue>();
  for (const [role, texts] of standardTexts(document)) {
    const [text, ...spellings] = texts.map(cleanText).filter((one) => one !== '');
    if (text !== undefined) byRole.set(role, { kind: 'text', text, spellings });
  }
  for (const role of ['gender', 'race', 'veteran', 'disability'] as const) {
    const value = valueOf(document.eeo?.[role] ?? '');
    if (!isEmpty(value)) byRole.set(role, value);
  }
  return byRole;
}

function valueOf(answer: string | readonly string[]): ProfileValue {
  return typeof answer === 'string'
    ? { kind: 'text', text: cleanText(answer), spellings: [] }
    : { kind: 'labels', labels: answer.map(cleanText) };
}

function isEmpty(value: ProfileValue): boolean {
  return value.kind === 'text' ? value.text === '' : value.labels.length === 0;
}

function isSame(one: ProfileValue, other: ProfileValue): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Turns each line break into a line feed, as HTML does, and drops white space at the ends. */
function cleanText(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').trim();
}

/**
 * The path of the first member with a forbidden control character, or undefined. Searches only the
 * members that the schema names.
 */
function controlCharacterIn(schema: unknown, value: unknown, name = ''): string | undefined {
  // Matches a control character other than a tab or a line break.
  if (typeof value === 'string') return /[^\P{Cc}\t\n\r]/u.test(value) ? name : undefined;
  if (Array.isArray(value)) {
    const items = memberOf(schema, 'items');
    return firstFound(value.entries(), (index, item) =>
      controlCharacterIn(items, item, `${name}[${index}]`),
    );
  }
  return firstFound(membersOf(memberOf(schema, 'properties')), (member, part) =>
    controlCharacterIn(part, memberOf(value, member), name === '' ? member : `${name}.${member}`),
  );
}

function firstFound<Key, Value>(
  entries: Iterable<[Key, Value]>,
  find: (key: Key, value: Value) => string | undefined,
): string | undefined {
  for (const [key, value] of entries) {
    const found = find(key, value);
    if (found !== undefined) return found;
  }
  return undefined;
}
