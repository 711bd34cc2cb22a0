import type { FormField } from '../../planner/form-model.ts';

/** The present value of a widget. It may be personal data, so it is kept in memory only. */
export type FieldState =
  | { readonly kind: 'text'; readonly text: string }
  /** The labels of the chosen options; for a lone checkbox, its own label. */
  | { readonly kind: 'chosen'; readonly labels: readonly string[] }
  | { readonly kind: 'files'; readonly names: readonly string[] };

export interface FieldReport {
  readonly field: FormField;
  readonly state: FieldState;
  /** The page or the browser refuses the present value. */
  readonly isInvalid: boolean;
  /** The page marks the field as invalid. */
  readonly isMarked: boolean;
  readonly hasMessage: boolean;
  /** The value of `autocomplete`, lower-case. */
  readonly autocomplete: string;
  /**
   * The format in which a text field expects a date, such as `mm/dd/yyyy`. Undefined for other
   * fields.
   */
  readonly dateFormat?: string;
  /** Only for a text input that is not an ARIA combobox: the selector of its suggestions. */
  readonly suggestions?: string;
  /** The indexes in the `<select>` of the options in `field.options`, in the same order. */
  readonly optionIndexes?: readonly number[];
  /** The names by which an ATS may refer to the field in a refusal. */
  readonly names: readonly string[];
}

export interface FormAddress {
  readonly url: string;
  /** The absolute URL of the form's action; undefined without a `<form>`. */
  readonly action: string | undefined;
}

export interface FormReport extends FormAddress {
  readonly fields: readonly FieldReport[];
}

export interface ListboxReport {
  readonly isShown: boolean;
  readonly isLoading: boolean;
  readonly labels: readonly string[];
}

export interface FrameFacts {
  readonly url: string;
  /** `checkbox`: a visible captcha without a puzzle. `challenge`: a visible puzzle. */
  readonly challenge: 'none' | 'checkbox' | 'challenge';
  readonly hasPasswordField: boolean;
  /** The selectors among `watched` that have a visible element. */
  readonly shown: readonly string[];
  /** Visible texts of at most 500 characters, such as headings, alerts and paragraphs. */
  readonly sentences: readonly string[];
  readonly alerts: readonly string[];
}

export interface UploadReport {
  readonly isWorking: boolean;
  readonly isDone: boolean;
  readonly isFailed: boolean;
}
