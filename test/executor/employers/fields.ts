/** The subject of a question. The applicant has at most one answer for each subject. */
export type Ask =
  | 'givenName'
  | 'familyName'
  | 'fullName'
  | 'email'
  | 'phone'
  | 'country'
  | 'location'
  | 'company'
  | 'linkedin'
  | 'resume'
  | 'coverLetter'
  | 'authorised'
  | 'source'
  | 'languages'
  | 'startDate'
  | 'motivation'
  | 'gender'
  | 'veteran'
  | 'disability'
  | 'consent'
  /** No applicant answers these two. */
  | 'colour'
  | 'pronouns';

export type Control =
  | 'text'
  | 'textarea'
  | 'select'
  | 'combobox'
  /** A combobox that loads its options only after two letters were typed. */
  | 'search'
  | 'radio'
  | 'checkboxes'
  | 'checkbox'
  | 'date'
  | 'file';

export interface Option {
  readonly label: string;
  readonly value: string;
}

export interface Field {
  /** The key under which the server receives the answer. */
  readonly name: string;
  readonly ask: Ask;
  readonly label: string;
  readonly control: Control;
  readonly isRequired: boolean;
  readonly options?: readonly Option[];
  readonly isMultiple?: boolean;
}

export function numbered(first: number, ...labels: readonly string[]): Option[] {
  return labels.map((label, index) => ({ label, value: `${first + index}` }));
}

export function labelled(...labels: readonly string[]): Option[] {
  return labels.map((label) => ({ label, value: label }));
}

export const sourceLabels = ['A friend', 'LinkedIn', 'A friend of a friend', 'Conference', 'Other'];
export const languageLabels = ['English', 'German', 'Irish', 'Portuguese'];
export const locationLabels = [
  'Dublin, Ireland',
  'Dublin, Ohio, United States',
  'Dunedin, New Zealand',
  'Lisbon, Portugal',
];
export const genderLabels = ['Male', 'Female', 'Decline To Self Identify'];
export const veteranLabels = [
  'I am not a protected veteran',
  'I identify as one or more of the classifications of a protected veteran',
  "I don't wish to answer",
];
export const disabilityLabels = [
  'Yes, I have a disability, or have had one in the past',
  'No, I do not have a disability and have not had one in the past',
  'I do not want to answer',
];

type Choices = Pick<Field, 'options' | 'isMultiple'>;

export function required(
  name: string,
  ask: Ask,
  label: string,
  control: Control,
  choices: Choices = {},
): Field {
  return { name, ask, label, control, isRequired: true, ...choices };
}

export function optional(
  name: string,
  ask: Ask,
  label: string,
  control: Control,
  choices: Choices = {},
): Field {
  return { ...required(name, ask, label, control, choices), isRequired: false };
}
