import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FieldRole, FieldValue, FormField, WidgetKind } from './form-model.ts';
import { normaliseLabel } from './label.ts';
import { planForm } from './plan.ts';
import { profileFrom } from './planner.fixture.ts';

/** Few words, so labels, options and values are often equal. */
const word = fc.constantFrom(
  'Yes',
  'No',
  'yes!',
  'C',
  'C++',
  'Ada',
  'ada',
  'Phone',
  'Ada Byron',
  'I agree',
  '-',
  '',
);
const named = word.filter((text) => normaliseLabel(text) !== '');
const kind = fc.constantFrom<WidgetKind>(
  'text',
  'select',
  'combobox',
  'radio',
  'checkbox',
  'checkboxes',
  'date',
  'file',
  'unsupported',
);
const role = fc.constantFrom<FieldRole>(
  'givenName',
  'familyName',
  'fullName',
  'phone',
  'location',
  'gender',
  'race',
  'resumeFile',
  'company',
  'coverLetterText',
);

const form = fc
  .array(
    fc.record(
      {
        kind,
        label: word,
        isRequired: fc.boolean(),
        options: fc.array(word, { maxLength: 4 }),
        role,
        isMultiple: fc.boolean(),
        maxLength: fc.nat(8),
      },
      { requiredKeys: ['kind', 'label', 'isRequired'] },
    ),
    { maxLength: 8 },
  )
  .map((fields) => ({
    fields: fields.map((field, index): FormField => ({ key: `${index}`, ...field })),
  }));

const answer = fc.oneof(word, fc.array(word, { maxLength: 3 }), fc.constant('2027-01-31'));
const file = { name: 'cv.pdf', contentType: 'application/pdf', base64: 'YQ==' };
const document = fc.record(
  {
    basics: fc.record(
      {
        name: word,
        phone: word,
        location: fc.record({ city: word, region: word }, { requiredKeys: [] }),
      },
      { requiredKeys: [] },
    ),
    work: fc.array(fc.record({ name: word, endDate: fc.constantFrom('', '2020') }), {
      maxLength: 2,
    }),
    coverLetter: word,
    eeo: fc.record({ gender: answer, race: answer }, { requiredKeys: [] }),
    consents: fc.array(named, { maxLength: 2 }),
    answers: fc.uniqueArray(fc.record({ question: named, answer }), {
      maxLength: 4,
      selector: ({ question }) => normaliseLabel(question),
    }),
    files: fc.record({ resume: fc.constant(file) }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
);

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

function entered(value: FieldValue): readonly string[] {
  switch (value.kind) {
    case 'text':
      return [value.text];
    case 'date':
      return [value.date];
    case 'options':
      return [...value.labels, ...(value.spellings ?? [])];
    case 'check':
    case 'file':
      return [];
  }
}

const composed: readonly FieldRole[] = ['location', 'givenName', 'familyName'];

test('every entered text is in the profile, is a part of the name, or joins members', () => {
  fc.assert(
    fc.property(form, document, (model, profile) => {
      const texts = stringsIn(profile).map(normaliseLabel);
      const words = new Set(texts.flatMap((text) => text.split(' ')));
      const isFrom = (text: string, { role: asked = 'phone' }: FormField) =>
        composed.includes(asked)
          ? text.split(' ').every((part) => words.has(part))
          : texts.includes(text);
      for (const { field, value } of planForm(model, profileFrom(profile)).fills) {
        const made = entered(value).filter((text) => !isFrom(normaliseLabel(text), field));
        expect(made).toEqual([]);
      }
    }),
    { numRuns: 500 },
  );
});

test('every chosen option is an option of the page, and only one can be meant', () => {
  fc.assert(
    fc.property(form, document, (model, profile) => {
      for (const { field, value } of planForm(model, profileFrom(profile)).fills) {
        if (value.kind !== 'options' || field.options === undefined) continue;
        expect(value.labels.length).toBeGreaterThan(0);
        for (const label of value.labels) {
          expect(field.options.filter((option) => option === label)).toHaveLength(1);
        }
      }
    }),
    { numRuns: 500 },
  );
});

test('a checkbox is checked only by a consent or an answer that names it', () => {
  fc.assert(
    fc.property(form, document, (model, profile) => {
      const { consents = [], answers = [] } = profile;
      const given = [...consents, ...answers.flatMap((one) => one.answer)].map(normaliseLabel);
      for (const { field, value } of planForm(model, profileFrom(profile)).fills) {
        if (value.kind !== 'check') continue;
        const names = [field.label, ...(field.options ?? [])].map(normaliseLabel);
        expect(names.some((name) => name !== '' && given.includes(name))).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});

test('every field is in exactly one list, in the order of the page, and the plan repeats', () => {
  fc.assert(
    fc.property(form, document, (model, profile) => {
      const plan = planForm(model, profileFrom(profile));
      expect(planForm(model, profileFrom(profile))).toEqual(plan);
      const lists = [
        plan.fills.map(({ field }) => field),
        plan.left,
        plan.missing,
        plan.unsupported,
      ];
      for (const list of lists) {
        const keys = list.map(({ key }) => Number(key));
        expect(keys).toEqual(keys.toSorted((one, other) => one - other));
      }
      expect(
        lists
          .flat()
          .map(({ key }) => key)
          .toSorted(),
      ).toEqual(model.fields.map(({ key }) => key).toSorted());
      expect([...plan.missing, ...plan.unsupported].every((field) => field.isRequired)).toBe(true);
      expect(plan.left.some((field) => field.isRequired)).toBe(false);
    }),
    { numRuns: 300 },
  );
});

test('two fields that differ only in the notation of their label get the same value', () => {
  const { fields: one } = { fields: form.map(({ fields }) => fields[0]) };
  fc.assert(
    fc.property(one, document, (field, profile) => {
      if (field === undefined) return;
      const twin = { ...field, key: 'twin', label: ` ${field.label.toUpperCase()} * ` };
      const { fills } = planForm({ fields: [field, twin] }, profileFrom(profile));
      expect(fills.map(({ value }) => value)).toEqual(
        fills.length === 0 ? [] : [fills[0]?.value, fills[0]?.value],
      );
    }),
    { numRuns: 500 },
  );
});
