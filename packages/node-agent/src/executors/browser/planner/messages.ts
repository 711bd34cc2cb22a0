import { standardFields } from '@svc/contracts';
import { failureMessageLengthMax } from '@svc/domain';
import type { FormField } from './form-model.ts';
import { normaliseLabel } from './label.ts';
import type { ProfileFileName } from './profile.ts';

/**
 * Messages of failures for tenants. They name labels of fields and members of the profile, but
 * never a value (CONTRACT 10).
 */

const labelLengthMax = 80;

export function missingMessage(fields: readonly FormField[]): string {
  return listed('The profile does not answer these required fields', fields.map(nameWithMember));
}

export function refusedMessage(labels: readonly string[]): string {
  return listed('The page refused the values of these fields', labels.map(quoted));
}

export function unsupportedMessage(fields: readonly FormField[]): string {
  const labels = fields.map(({ label }) => quoted(label));
  return listed('The node cannot fill in these required fields', labels);
}

const fileRules = {
  unreachable: 'cannot be fetched from its url',
  too_large: 'is larger than 25 MiB',
  wrong_hash: 'does not match its sha256',
} as const;

export type FileFault = keyof typeof fileRules;

export function fileMessage(file: ProfileFileName, fault: FileFault): string {
  return `files.${file} ${fileRules[fault]}.`;
}

/**
 * The name of a member of the profile, from its JSON Pointer. Examples: `files.resume.sha256`,
 * `answers[3].question`.
 */
export function memberName(pointer: string): string {
  const segments = pointer.split('/').slice(1);
  if (segments.length === 0) return 'applicantProfile';
  const path = segments.map((segment) => {
    const name = printable(segment.replaceAll('~1', '/').replaceAll('~0', '~'));
    return /^\d+$/.test(name) ? `[${name}]` : `.${name}`;
  });
  return path.join('').replace(/^\./, '');
}

/**
 * Cuts a text to `lengthMax` code points, because the wire counts code points as characters. A text
 * that was cut ends with "…".
 */
export function cutText(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const characters = Array.from(text);
  if (characters.length <= lengthMax) return text;
  return `${characters.slice(0, lengthMax - 1).join('')}…`;
}

function listed(intro: string, names: readonly string[]): string {
  const all = [...new Set(names)];
  const messageOf = (count: number) => {
    const rest = all.length - count;
    const shown = all.slice(0, count).join(', ');
    return `${intro}: ${shown}${rest === 0 ? '' : ` and ${rest} more`}.`;
  };
  let count = all.length;
  while (count > 1 && lengthOf(messageOf(count)) > failureMessageLengthMax) count -= 1;
  return cutText(messageOf(count), failureMessageLengthMax);
}

function lengthOf(text: string): number {
  return Array.from(text).length;
}

function nameWithMember({ label, role }: FormField): string {
  const standard = standardFields.find((field) => field.role === role);
  return standard === undefined ? quoted(label) : `${quoted(label)} (${standard.member})`;
}

function quoted(label: string): string {
  if (normaliseLabel(label) === '') return 'a field without a label';
  return `“${cutText(printable(label), labelLengthMax)}”`;
}

function printable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
}
