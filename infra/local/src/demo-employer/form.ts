interface FieldBase {
  readonly name: string;
  readonly label: string;
  readonly isRequired: boolean;
}

export type Field = FieldBase &
  (
    | { readonly kind: 'text' | 'email' | 'tel' | 'url' | 'date'; readonly autocomplete?: string }
    | { readonly kind: 'textarea' | 'checkbox' | 'file' }
    | { readonly kind: 'select' | 'radio'; readonly options: readonly string[] }
  );

export const fields: readonly Field[] = [
  {
    kind: 'text',
    name: 'given',
    label: 'First name',
    isRequired: true,
    autocomplete: 'given-name',
  },
  {
    kind: 'text',
    name: 'family',
    label: 'Last name',
    isRequired: true,
    autocomplete: 'family-name',
  },
  { kind: 'email', name: 'email', label: 'Email', isRequired: true, autocomplete: 'email' },
  { kind: 'tel', name: 'phone', label: 'Phone', isRequired: false, autocomplete: 'tel' },
  { kind: 'url', name: 'website', label: 'Website', isRequired: false, autocomplete: 'url' },
  { kind: 'file', name: 'resume', label: 'Resume', isRequired: true },
  { kind: 'textarea', name: 'letter', label: 'Cover letter', isRequired: false },
  {
    kind: 'select',
    name: 'place',
    label: 'Where would you like to work?',
    isRequired: true,
    options: ['London', 'Turin', 'At home'],
  },
  {
    kind: 'radio',
    name: 'permit',
    label: 'Are you allowed to work in this country?',
    isRequired: true,
    options: ['Yes', 'No'],
  },
  { kind: 'date', name: 'start', label: 'When can you start?', isRequired: false },
  {
    kind: 'checkbox',
    name: 'consent',
    label: 'I agree that Example Engines keeps my application for six months',
    isRequired: true,
  },
];

export interface Answer {
  readonly label: string;
  readonly value: string;
}

const valueLengthMax = 2_000;

/**
 * The answers of a submitted form, without its file and without empty fields. `missing` are the
 * labels of required fields that are empty.
 */
export function readAnswers(form: FormData): { answers: Answer[]; missing: string[] } {
  const given = fields.map((field) => ({ field, value: valueIn(form, field.name) }));
  return {
    answers: given
      .filter(({ field, value }) => field.kind !== 'file' && value !== '')
      .map(({ field, value }) => ({
        label: field.label,
        value: field.kind === 'checkbox' ? 'Yes' : value.slice(0, valueLengthMax),
      })),
    missing: given
      .filter(({ field, value }) => field.isRequired && value === '')
      .map(({ field }) => field.label),
  };
}

function valueIn(form: FormData, name: string): string {
  const value = form.get(name);
  if (value === null || typeof value === 'string') return value ?? '';
  return value.size === 0 ? '' : value.name;
}
