/**
 * A form as the engine reads it from a page: what a person could fill in, without any value of a
 * profile. The planner decides on it, and the engine finds each widget again by its `key`.
 */
export interface FormModel {
  readonly fields: readonly FormField[];
}

/** `checkboxes` is a group with one question; `checkbox` stands alone, like a consent. */
export type WidgetKind =
  | 'text'
  | 'select'
  | 'combobox'
  | 'radio'
  | 'checkbox'
  | 'checkboxes'
  | 'date'
  | 'file'
  | 'unsupported';

/** What an adapter, or a standard label or `autocomplete` value, says that a field asks for. */
export type FieldRole =
  | 'givenName'
  | 'familyName'
  | 'fullName'
  | 'email'
  | 'phone'
  | 'city'
  | 'location'
  | 'company'
  | 'website'
  | 'linkedin'
  | 'github'
  | 'twitter'
  | 'summary'
  | 'coverLetterText'
  | 'resumeFile'
  | 'coverLetterFile'
  | 'gender'
  | 'race'
  | 'veteran'
  | 'disability';

export interface FormField {
  /** Unique on the page. The reader assigns it. */
  readonly key: string;
  readonly kind: WidgetKind;
  /** The question as the page shows it, not normalised. Empty if the widget has no label. */
  readonly label: string;
  readonly isRequired: boolean;
  /** The labels of the options as shown; absent if the page loads them only when it is opened. */
  readonly options?: readonly string[];
  readonly role?: FieldRole;
  /** True if the field takes more than one option or file. */
  readonly isMultiple?: boolean;
}

/** A value to enter into one widget. A date is `YYYY-MM-DD`. */
export type FieldValue =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'options'; readonly labels: readonly string[] }
  | { readonly kind: 'date'; readonly date: string }
  | { readonly kind: 'check' }
  | { readonly kind: 'file'; readonly file: 'resume' | 'coverLetter' };

export interface Fill {
  readonly field: FormField;
  readonly value: FieldValue;
}

/** What to fill in, decided from a form and a profile. The same input gives the same plan. */
export interface Plan {
  readonly fills: readonly Fill[];
  /** Optional fields that the profile does not answer. */
  readonly left: readonly FormField[];
  /** Required fields that the profile does not answer: the job fails with `invalid_payload`. */
  readonly missing: readonly FormField[];
  /** Required widgets that the engine cannot operate: the job fails with `form_unsupported`. */
  readonly unsupported: readonly FormField[];
}
