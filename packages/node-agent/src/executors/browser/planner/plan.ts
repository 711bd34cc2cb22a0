import { assertNever } from '@svc/domain';
import { datePartOption, datePartText } from './dates.ts';
import type {
  Fill,
  FieldRole,
  FieldValue,
  FormField,
  FormModel,
  OptionsValue,
  Plan,
} from './form-model.ts';
import { normaliseLabel, withoutHint } from './label.ts';
import { chooseOptions } from './options.ts';
import type { ApplicantProfile, ProfileFileName, ProfileValue } from './profile.ts';

/**
 * Decides what to enter into each field (CONTRACT 10). Never cuts or converts a value. If the
 * widget of a field cannot take the value, the field counts as unanswered.
 */
export function planForm(form: FormModel, profile: ApplicantProfile): Plan {
  const fills: Fill[] = [];
  const left: FormField[] = [];
  const missing: FormField[] = [];
  const unsupported: FormField[] = [];
  for (const field of form.fields) {
    const value = valueFor(field, profile);
    if (value !== undefined) fills.push({ field, value });
    else if (!field.isRequired) left.push(field);
    else if (field.kind === 'unsupported') unsupported.push(field);
    else missing.push(field);
  }
  return { fills, left, missing, unsupported };
}

function valueFor(field: FormField, profile: ApplicantProfile): FieldValue | undefined {
  const part = partFor(field, profile);
  if (part !== undefined) return part;
  switch (field.kind) {
    case 'unsupported':
      return undefined;
    case 'file':
      return fileFor(field.role, profile);
    case 'checkbox':
      return isChecked(field, profile) ? { kind: 'check' } : undefined;
    case 'text':
      return textFor(field, profileValue(field, profile));
    case 'date':
      return dateFor(profileValue(field, profile));
    case 'select':
    case 'combobox':
    case 'radio':
      return optionsFor(field, profile, profileValue(field, profile), field.isMultiple === true);
    case 'checkboxes':
      return optionsFor(
        field,
        profile,
        profileValue(field, profile) ?? consentsOf(field, profile),
        true,
      );
    default:
      return assertNever(field.kind);
  }
}

function profileValue(field: FormField, profile: ApplicantProfile): ProfileValue | undefined {
  return answerTo(field, profile) ?? standardValue(field, profile);
}

/** The answer to the question, or to the question without its hint in brackets. */
function answerTo({ label }: FormField, { answers }: ApplicantProfile): ProfileValue | undefined {
  return answers.get(normaliseLabel(label)) ?? answers.get(normaliseLabel(withoutHint(label)));
}

/**
 * The value for one part of a date. The profile answers the question of all parts. Undefined if it
 * does not, or if the widget has no such option.
 */
function partFor(field: FormField, profile: ApplicantProfile): FieldValue | undefined {
  const { datePart } = field;
  if (datePart === undefined) return undefined;
  const whole = dateFor(answerTo({ ...field, label: datePart.question }, profile));
  if (whole?.kind !== 'date') return undefined;
  if (field.kind === 'text') return { kind: 'text', text: datePartText(whole.date, datePart.part) };
  const option = datePartOption(field, whole.date, datePart.part);
  return option === undefined ? undefined : { kind: 'options', labels: [option] };
}

function standardValue(
  { role }: FormField,
  { byRole }: ApplicantProfile,
): ProfileValue | undefined {
  if (role === undefined) return undefined;
  return byRole.get(role === 'coverLetterFile' ? 'coverLetterText' : role);
}

/**
 * The text for a text field or a date field. A list with one label counts as a text. Any other list
 * has no text.
 */
function oneText(value: ProfileValue | undefined): string | undefined {
  if (value?.kind === 'text') return value.text;
  const [only, ...others] = value?.labels ?? [];
  return others.length === 0 ? only : undefined;
}

function textFor(field: FormField, value: ProfileValue | undefined): FieldValue | undefined {
  const text = oneText(value);
  if (text === undefined || text === '') return undefined;
  if (field.maxLength !== undefined && text.length > field.maxLength) return undefined;
  if (field.isMultiline === false && text.includes('\n')) return undefined;
  return { kind: 'text', text };
}

function dateFor(value: ProfileValue | undefined): FieldValue | undefined {
  const date = oneText(value);
  return date !== undefined && isDate(date) ? { kind: 'date', date } : undefined;
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const midnight = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text);
}

function meaningOf(field: FormField, profile: ApplicantProfile): OptionsValue['meaning'] {
  if (field.role === 'country') return { kind: 'country' };
  if (field.role !== 'location' && field.role !== 'city') return undefined;
  const { place } = profile;
  // An answer of the tenant stands as it is.
  const isAnswered = answerTo(field, profile) !== undefined;
  return isAnswered || place === undefined ? undefined : { kind: 'place', place };
}

function optionsFor(
  field: FormField,
  profile: ApplicantProfile,
  value: ProfileValue | undefined,
  takesSeveral: boolean,
): FieldValue | undefined {
  if (value === undefined) return undefined;
  const named =
    value.kind === 'text'
      ? { labels: [value.text], spellings: value.spellings }
      : { labels: value.labels, spellings: [] };
  const labels = named.labels.filter((label) => normaliseLabel(label) !== '');
  if (labels.length === 0 || labels.length < named.labels.length) return undefined;
  if (labels.length > 1 && !takesSeveral) return undefined;
  const meaning = meaningOf(field, profile);
  const meant = meaning === undefined ? {} : { meaning };
  if (field.options === undefined) {
    const { spellings } = named;
    return { kind: 'options', labels, ...(spellings.length === 0 ? {} : { spellings }), ...meant };
  }
  const chosen = chooseOptions(field.options, { ...named, ...meant }, field.optionValues);
  return chosen === undefined ? undefined : { kind: 'options', labels: chosen };
}

/**
 * True if the answer consists of labels of the field or of its options. Without an answer, true if
 * the profile consents to one of these labels.
 */
function isChecked(field: FormField, profile: ApplicantProfile): boolean {
  const { consents } = profile;
  const names = [field.label, ...(field.options ?? [])].map(normaliseLabel);
  const answer = answerTo(field, profile);
  const isNamed = (label: string) => label !== '' && names.includes(label);
  if (answer === undefined) return names.some((name) => consents.has(name));
  const answered = answer.kind === 'text' ? [answer.text] : answer.labels;
  // A word like "yes" is not interpreted: only a label counts.
  return answered.length > 0 && answered.every((label) => isNamed(normaliseLabel(label)));
}

function consentsOf(field: FormField, { consents }: ApplicantProfile): ProfileValue | undefined {
  const given = (field.options ?? []).filter((option) => consents.has(normaliseLabel(option)));
  return given.length === 0 ? undefined : { kind: 'labels', labels: given };
}

const fileByRole: Readonly<Partial<Record<FieldRole, ProfileFileName>>> = {
  resumeFile: 'resume',
  coverLetterFile: 'coverLetter',
  coverLetterText: 'coverLetter',
};

function fileFor(role: FieldRole | undefined, { files }: ApplicantProfile): FieldValue | undefined {
  const file = role === undefined ? undefined : fileByRole[role];
  return file === undefined || files[file] === undefined ? undefined : { kind: 'file', file };
}
