import type { FieldRole, Place } from './form-model.ts';

export interface ApplicantProfile {
  /** The values of the standard fields. Files are in `files`. */
  readonly byRole: ReadonlyMap<FieldRole, ProfileValue>;
  /** `basics.location`, for options that name the same place in other words. */
  readonly place?: Place;
  /**
   * The answers by normalised question. An optional field with an empty answer is not filled in,
   * even if `byRole` has a value for it.
   */
  readonly answers: ReadonlyMap<string, ProfileValue>;
  /** The normalised labels of the consents that the applicant gave. */
  readonly consents: ReadonlySet<string>;
  /** The only source of uploads: an answer does not count for an upload. */
  readonly files: Readonly<Partial<Record<ProfileFileName, ProfileFile>>>;
}

export type ProfileValue =
  | { readonly kind: 'text'; readonly text: string; readonly spellings: readonly string[] }
  | { readonly kind: 'labels'; readonly labels: readonly string[] };

export type ProfileFileName = 'resume' | 'coverLetter';

export interface ProfileFile {
  /** The name of the file, without a path. */
  readonly name: string;
  readonly contentType: string;
  readonly source:
    | { readonly kind: 'inline'; readonly bytes: Uint8Array }
    /** `sha256` is the SHA-256 that the bytes at `url` must have, in lower-case hex. */
    | { readonly kind: 'url'; readonly url: string; readonly sha256: string };
}

export type ProfileReading =
  | {
      readonly kind: 'profile';
      readonly profile: ApplicantProfile;
      readonly applicationUrl: string;
      /**
       * The ATS that the tenant names. It is only a hint, because the adapter is chosen by the
       * markup of the page.
       */
      readonly atsType: string;
    }
  /**
   * The job fails with `invalid_payload` and this `message`. The message names the member at fault,
   * if there is one, but never contains its value.
   */
  | { readonly kind: 'invalid'; readonly message: string };
