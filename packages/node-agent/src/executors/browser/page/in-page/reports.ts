import type { FormField } from '../../planner/form-model.ts';

/** The present value of a widget. It may be personal data, so it is kept in memory only. */
export type FieldState =
  | { readonly kind: 'text'; readonly text: string }
  /**
   * The labels of the chosen options. A lone checkbox that is checked gives its own label. A
   * combobox gives the texts that it shows as chosen.
   */
  | { readonly kind: 'chosen'; readonly labels: readonly string[] }
  | { readonly kind: 'files'; readonly names: readonly string[] };

export interface FieldReport {
  readonly field: FormField;
  readonly state: FieldState;
  /** A control has `aria-invalid="true"`, or the browser's own validation refuses its value. */
  readonly isInvalid: boolean;
  /** A control has `aria-invalid="true"`. */
  readonly isMarked: boolean;
  readonly hasMessage: boolean;
  /** The attribute `autocomplete` in lower case, without spaces at its ends. Empty if missing. */
  readonly autocomplete: string;
  /**
   * The format in which a text field expects a date, such as `mm/dd/yyyy`. Undefined for other
   * fields.
   */
  readonly dateFormat?: string;
  /** True if the field is an editor for formatted text. It may show other empty lines. */
  readonly isRich?: boolean;
  /** The selector of the suggestions, if the field is one of the adapter's `typeaheads`. */
  readonly suggestions?: string;
  /** For each option in `field.options`, its index in the `<select>`. Only for a `<select>`. */
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

export interface ChoicesReport {
  /** True if the widget shows options or an empty list. */
  readonly isShown: boolean;
  readonly isLoading: boolean;
  readonly labels: readonly string[];
  /** For each label: true if the page marks this option as chosen. */
  readonly chosen: readonly boolean[];
}

export interface FrameFacts {
  readonly url: string;
  /** `checkbox`: a visible, unsolved captcha without a puzzle. `challenge`: a visible puzzle. */
  readonly challenge: 'none' | 'checkbox' | 'challenge';
  readonly hasPasswordField: boolean;
  /** The selectors in `watched` (see `readFacts`) that match a visible element. */
  readonly shown: readonly string[];
  /** True if the frame shows an area to draw a signature in. */
  readonly asksSignature: boolean;
  /** The texts of the visible blocks, each of at most 500 characters (`readSentences`). */
  readonly sentences: readonly string[];
  /** True if the frame has more text than `sentences` holds. */
  readonly isCut: boolean;
  readonly alerts: readonly string[];
}

export interface UploadReport {
  readonly isWorking: boolean;
  readonly isDone: boolean;
  readonly isFailed: boolean;
}
