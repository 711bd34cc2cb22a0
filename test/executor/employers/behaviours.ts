/**
 * The systems that the fixtures imitate. Greenhouse has three variants: the new board, the older
 * board, and the new board in a frame.
 */
export const atsNames = [
  'greenhouse',
  'greenhouse-legacy',
  'greenhouse-embed',
  'lever',
  'ashby',
  'workable',
  'generic',
] as const;

export type Ats = (typeof atsNames)[number];

export const behaviours = [
  'success',
  'posting-closed',
  'visible-challenge',
  /**
   * The page loads an invisible captcha, which asks the person nothing. The server accepts the
   * application.
   */
  'invisible-captcha',
  /** The server receives the application and answers that the captcha failed. */
  'captcha-refused',
  'sign-in-wall',
  /** A required question that the applicant's profile does not answer. */
  'missing-answer',
  /** An optional question that the applicant's profile does not answer. */
  'optional-empty',
  'upload-refused',
  /** The server receives the application and refuses the email address. */
  'field-errors',
  /** The server receives the application and refuses it with status 200. */
  'refusal-200',
  'error-500',
  /** The server receives the application and cuts the connection without an answer. */
  'cut',
  /** The page replaces its widgets while they are filled in. */
  're-render',
  /** The page shows its form some time after it has loaded (`lateScript`). */
  'late-render',
  'double-submit',
  'multi-step',
] as const;

export type Behaviour = (typeof behaviours)[number];
