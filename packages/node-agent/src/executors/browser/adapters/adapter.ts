import type { SubmissionMatcher, SubmissionSent } from '../fence/submit-fence.ts';
import type { FieldRole } from '../planner/form-model.ts';

/**
 * How to read the form of an applicant tracking system (ATS). All strings other than roles are CSS
 * selectors. The rules are sent to the page as plain data.
 */
export interface ReadingRules {
  /**
   * The root of the form. Undefined: `findRoot` takes the only application form that has an upload,
   * or else the only application form of the document.
   */
  readonly root: string | undefined;
  /** The rules that give a control its role. If several rules match, the first rule applies. */
  readonly roles: readonly { readonly control: string; readonly role: FieldRole }[];
  /**
   * Controls that belong to the form even if they are hidden or out of the tab order. An example is
   * a file input behind a button.
   */
  readonly named?: string;
  /**
   * Controls that are not filled in. An example is an input next to buttons that give the same
   * answer.
   */
  readonly ignored?: string;
  /**
   * The container of one question, the label in it, and the mark that a required question has on
   * its label.
   */
  readonly question?: {
    readonly container: string;
    readonly label: string;
    readonly required?: string;
  };
  /**
   * Buttons that act as radios. On the chosen button, `aria-pressed`, `aria-checked` or
   * `aria-selected` is `true`.
   */
  readonly buttonGroup?: { readonly container: string; readonly option: string };
  /**
   * Text inputs that show suggestions but are not ARIA comboboxes. `options` selects the
   * suggestions.
   */
  readonly typeaheads?: readonly { readonly control: string; readonly options: string }[];
  readonly fieldError: string;
  /** True if a placeholder may serve as the label of a field that has no other label. */
  readonly canUsePlaceholder: boolean;
  /**
   * Selects the control that sends the form. If undefined, `findSubmit` finds the control by its
   * type and its caption.
   */
  readonly submit: string | undefined;
}

/**
 * Selectors of the signs that a page shows for an upload. `readUpload` looks for the signs only in
 * the container of the question, if there is one.
 */
export interface UploadRules {
  readonly working?: string;
  readonly done?: string;
  readonly failed?: string;
}

/**
 * The signs that the ATS has received the application. One sign is enough if the answer to the
 * submission request has a status below 400 and contains no refusal.
 */
interface SuccessRules {
  /** Matches the path of the page's URL, or of the URL of one of its frames. */
  readonly path?: RegExp;
  readonly shown?: string;
  /**
   * True if the answer to the submission request says that the ATS has the application. False
   * proves nothing.
   */
  isAccepted?(answer: Answer): boolean;
  /** True if a sentence like "Thank you for applying" proves success after the form has gone. */
  readonly isSentenceEnough: boolean;
}

interface ClosedRules {
  /** Matches the path and the query of the page's URL, or of the URL of one of its frames. */
  readonly address?: RegExp;
  readonly shown?: string;
  /**
   * Sentences that the ATS shows for a closed posting. A sentence matches only if it equals the
   * whole text of an element, after both are normalised.
   */
  readonly sentences: readonly string[];
}

export type Answer = SubmissionSent & { readonly kind: 'answered' };

/**
 * The reason why the ATS refused the application. Each string of `fields` is a field's name, a
 * field's label or an error message, as the ATS writes it.
 */
export type Refusal =
  | { readonly kind: 'captcha' }
  | { readonly kind: 'rejected' }
  | { readonly kind: 'closed' }
  | { readonly kind: 'fields'; readonly fields: readonly string[] };

export interface FormToSend {
  /** The URL of the document that has the form. */
  readonly url: string;
  /** The absolute URL of the form's `action`; undefined without a `<form>`. */
  readonly action: string | undefined;
  /** The text values that were filled in. Empty before the form is filled in. */
  readonly values: readonly string[];
}

/**
 * The rules for one ATS. A new ATS needs a file with an `Adapter`, an entry in `namedAdapters`, and
 * fixtures.
 */
export interface Adapter {
  /** The name that the result of the job shows as `details.adapter`. */
  readonly name: string;
  readonly reading: ReadingRules;
  /** The selector of the link or button that leads from the posting to the form. */
  readonly entry?: string;
  /** The selector of the element with which an employer's page embeds a frame of this ATS. */
  readonly embed?: string;
  readonly upload: UploadRules;
  /** Returns a function that recognises the submission request (CONTRACT 10, "At most once"). */
  submissionOf(form: FormToSend): SubmissionMatcher;
  readonly success: SuccessRules;
  /** Selects the element by which the page shows that the ATS refused the application. */
  readonly refusalShown?: string;
  /** The refusal that the answer to the submission request contains; undefined if there is none. */
  refusalIn(answer: Answer): Refusal | undefined;
  /**
   * The sentences with which the page says that its captcha was not solved. Each is compared with
   * the page's alerts after both are normalised.
   */
  readonly captchaSentences?: readonly string[];
  readonly closed: ClosedRules;
}
