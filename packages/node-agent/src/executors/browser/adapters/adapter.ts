import type { SubmissionMatcher, SubmissionSent } from '../fence/submit-fence.ts';
import type { FieldRole } from '../planner/form-model.ts';

/** How to read an ATS's form. All strings are CSS selectors. The rules are passed to the page. */
export interface ReadingRules {
  /** The root of the form. Undefined: the reader looks for the page's only application form. */
  readonly root: string | undefined;
  /** The meaning of a control. The first rule that matches counts. */
  readonly roles: readonly { readonly control: string; readonly role: FieldRole }[];
  /** Controls that belong to the form even if they are hidden, like an upload under a button. */
  readonly named?: string;
  /** Controls that are no part of the application, like a second upload that only parses. */
  readonly ignored?: string;
  /** The container of one question, its label, and the mark on the label of a required one. */
  readonly question?: {
    readonly container: string;
    readonly label: string;
    readonly required?: string;
  };
  /** Buttons that act as radios. The chosen one has `aria-pressed` or `aria-checked`. */
  readonly buttonGroup?: { readonly container: string; readonly option: string };
  /** Text inputs with suggestions that are no ARIA combobox. */
  readonly typeaheads?: readonly { readonly control: string; readonly options: string }[];
  /** Messages about single fields. */
  readonly fieldError: string;
  /** True if a placeholder may serve as the label of a field that has no other. */
  readonly canUsePlaceholder: boolean;
  /** The control that sends the form. Undefined: found by its type and label. */
  readonly submit: string | undefined;
}

/** The marks that an upload shows, in the container of its question or, if there is none, in the root. */
export interface UploadRules {
  readonly working?: string;
  readonly done?: string;
  readonly failed?: string;
}

/** Proof that the ATS has the application. */
interface SuccessRules {
  /** Matches the path of the page or of the frame that had the form. */
  readonly path?: RegExp;
  /** Shown by the page. */
  readonly shown?: string;
  /** Read from the answer to the submission request. */
  isAccepted?(answer: Answer): boolean;
  /** True if a sentence on the page suffices, like "Thank you for applying". */
  readonly isSentenceEnough: boolean;
}

interface ClosedRules {
  /** Matches the address after all redirects, without the host. */
  readonly address?: RegExp;
  readonly shown?: string;
  /** Sentences of the ATS, compared after normalisation. */
  readonly sentences: readonly string[];
}

export type Answer = SubmissionSent & { readonly kind: 'answered' };

/** A proven refusal. `fields` are names or labels of fields, as the ATS writes them. */
export type Refusal =
  | { readonly kind: 'captcha' }
  | { readonly kind: 'rejected' }
  | { readonly kind: 'closed' }
  | { readonly kind: 'fields'; readonly fields: readonly string[] };

/** The form that is about to be sent. */
export interface FormToSend {
  /** The URL of the document that has the form. */
  readonly url: string;
  /** The absolute URL of the form's `action`; undefined without a `<form>`. */
  readonly action: string | undefined;
  /** The text values that were filled in. */
  readonly values: readonly string[];
}

/** An ATS. A new one is one file of this shape and its fixtures. */
export interface Adapter {
  /** Reported in `details.adapter`. */
  readonly name: string;
  readonly reading: ReadingRules;
  /** The link or button that leads from the posting to the form. */
  readonly entry?: string;
  /** A mark on an employer's page that a frame of this ATS belongs to it. */
  readonly embed?: string;
  readonly upload: UploadRules;
  /** Names the submission request (CONTRACT 10, "At most once"). */
  submissionOf(form: FormToSend): SubmissionMatcher;
  readonly success: SuccessRules;
  /** A refusal that the page shows. */
  readonly refusalShown?: string;
  /** A refusal in the answer to the submission request. */
  refusalIn(answer: Answer): Refusal | undefined;
  /** The page's sentences for a captcha that failed, compared after normalisation. */
  readonly captchaSentences?: readonly string[];
  readonly closed: ClosedRules;
}
