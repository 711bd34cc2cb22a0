import type { ApplicantFile } from '@svc/contracts';
import type { ProfileFile, ProfileFileName } from './profile.ts';

type FileReading =
  | { readonly kind: 'file'; readonly file: ProfileFile }
  | { readonly kind: 'invalid'; readonly message: string };

/**
 * Checks a file of the profile, or returns undefined if there is none. The egress proxy checks
 * later that the host of a URL is public.
 */
export function fileOf(
  member: ProfileFileName,
  file: ApplicantFile | undefined,
): FileReading | undefined {
  if (file === undefined) return undefined;
  const { name, contentType, base64, url = '', sha256 = '' } = file;
  if (base64 === undefined) {
    if (!isFileUrl(url)) {
      return invalid(`files.${member}.url must be an http or https URL without credentials.`);
    }
    const source = { kind: 'url', url, sha256: sha256.toLowerCase() } as const;
    return { kind: 'file', file: { name, contentType, source } };
  }
  const bytes = Buffer.from(base64, 'base64');
  // `Buffer` skips characters that are not base64. So the bytes are encoded again and compared with
  // the text.
  if (bytes.toString('base64') !== base64) {
    return invalid(
      `files.${member}.base64 must be padded base64 without line breaks and without a prefix.`,
    );
  }
  return { kind: 'file', file: { name, contentType, source: { kind: 'inline', bytes } } };
}

function invalid(message: string): FileReading {
  return { kind: 'invalid', message };
}

function isFileUrl(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}
