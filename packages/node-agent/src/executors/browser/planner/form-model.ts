/** The fields of a form as the executor reads them from a page, without any value of a profile. */
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

/**
 * The meaning of a field's question. An adapter, a standard label or an `autocomplete` value
 * decides the role.
 */
export type FieldRole =
  | 'givenName'
  | 'familyName'
  | 'fullName'
  | 'email'
  | 'phone'
  | 'city'
  | 'location'
  | 'streetAddress'
  | 'postalCode'
  | 'region'
  | 'country'
  | 'company'
  | 'jobTitle'
  | 'school'
  | 'degree'
  | 'discipline'
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

export type DateUnit = 'day' | 'month' | 'year';

/** A place of the profile. An option may name it in other words (CONTRACT 10). */
export interface Place {
  readonly city: string | undefined;
  readonly region: string | undefined;
  /** The name or the ISO code of the country. */
  readonly country: string | undefined;
  readonly postalCode: string | undefined;
}

export interface FormField {
  /** Unique in the form. The executor finds the widget of the field by this key. */
  readonly key: string;
  readonly kind: WidgetKind;
  /**
   * The question in the words of the page, before `normaliseLabel`, but without `*` and `✱` at its
   * ends. Empty if the page has no question for the widget.
   */
  readonly label: string;
  readonly isRequired: boolean;
  /**
   * The labels of the options as shown. Absent for a combobox, because its options may load only
   * when it is opened.
   */
  readonly options?: readonly string[];
  readonly role?: FieldRole;
  readonly isMultiple?: boolean;
  /** The `maxlength` of a text widget, in UTF-16 code units as in HTML. */
  readonly maxLength?: number;
  /** False if a text widget takes one line only. */
  readonly isMultiline?: boolean;
  /** The values of `options` in the page, in the same order. Only for a `<select>`. */
  readonly optionValues?: readonly string[];
  /** The page's description of the control, or its placeholder. */
  readonly hint?: string;
  /** The headings and legends of the boxes around the control, the nearest first. */
  readonly headings?: readonly string[];
  /** The control takes one part of the date that `question` asks for. */
  readonly datePart?: { readonly question: string; readonly part: DateUnit };
}

/** A value to enter into one widget. A date is `YYYY-MM-DD`. */
export type FieldValue =
  | { readonly kind: 'text'; readonly text: string }
  | OptionsValue
  | { readonly kind: 'date'; readonly date: string }
  | { readonly kind: 'check' }
  | { readonly kind: 'file'; readonly file: 'resume' | 'coverLetter' };

export interface OptionsValue {
  readonly kind: 'options';
  /**
   * The labels of the options to choose. They are as on the page, or as in the profile if the form
   * model has no options for this field.
   */
  readonly labels: readonly string[];
  /**
   * Other spellings of a single label, the best first. Only if the plan does not know the options
   * of the field: the executor then tries the spellings.
   */
  readonly spellings?: readonly string[];
  /** The meaning of a single label, if an option may say the same in other words. */
  readonly meaning?:
    | { readonly kind: 'country' }
    | { readonly kind: 'place'; readonly place: Place };
}

export interface Fill {
  readonly field: FormField;
  readonly value: FieldValue;
}

/** The decision on every field of a form. The same form and profile give the same plan. */
export interface Plan {
  readonly fills: readonly Fill[];
  /**
   * Optional fields that are not filled in, because the profile has no value that fits, or because
   * the executor cannot operate the widget.
   */
  readonly left: readonly FormField[];
  /**
   * Required fields for which the profile has no value that fits. If there are some and
   * `unsupported` is empty, the job fails with `invalid_payload`.
   */
  readonly missing: readonly FormField[];
  /**
   * Required fields whose widget the executor cannot operate. If there are some, the job fails with
   * `form_unsupported`.
   */
  readonly unsupported: readonly FormField[];
}
