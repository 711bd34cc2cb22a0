import { standardFields } from '@svc/contracts';
import type { FieldRole, FormField, WidgetKind } from './form-model.ts';
import { ambiguousNames, isAboutOther, isListHeading, labelMeanings } from './label-meanings.ts';
import { normaliseLabel, withoutHint } from './label.ts';

const roleByLabel = new Map<string, FieldRole>();
const roleByToken = new Map<string, FieldRole>();
for (const { role, labels, autocomplete } of standardFields) {
  for (const label of [...labels, ...(labelMeanings[role] ?? [])]) {
    const key = normaliseLabel(label);
    // "Cover letter" is the label of two roles. The map keeps the first one, `coverLetterText`.
    if (!roleByLabel.has(key)) roleByLabel.set(key, role);
  }
  for (const token of autocomplete) roleByToken.set(token, role);
}

export function roleOfLabel(label: string, kind?: WidgetKind): FieldRole | undefined {
  const role = [label, withoutHint(label)]
    .map((one) => roleByLabel.get(normaliseLabel(one)))
    .find((found) => found !== undefined);
  return role === 'coverLetterText' && kind === 'file' ? 'coverLetterFile' : role;
}

/**
 * Tokens of `autocomplete` that mark data that no profile has: a shipping or billing address, or
 * the number of a fax or a pager.
 */
const foreignTokens = new Set(['shipping', 'billing', 'fax', 'pager']);

/**
 * The role of the last token of an `autocomplete` attribute, not counting `webauthn`. Undefined if
 * no role is found, or if any token is in `foreignTokens`.
 */
export function roleOfAutocomplete(attribute: string): FieldRole | undefined {
  const tokens = attribute
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .filter((token) => token !== 'webauthn');
  if (tokens.some((token) => foreignTokens.has(token))) return undefined;
  return roleByToken.get(tokens.at(-1) ?? '');
}

/** Roles that a list of employers or schools asks for, once for each entry. */
const listedRoles = new Set<FieldRole>([
  'company',
  'jobTitle',
  'school',
  'degree',
  'discipline',
  'location',
  'city',
  'country',
  'summary',
]);

/**
 * True if the blocks around the field ask about somebody else, or list the entries of a history. An
 * upload always belongs to the applicant.
 */
export function isForeign({ kind, headings = [] }: FormField, role: FieldRole): boolean {
  if (kind === 'file') return false;
  return headings.some(
    (text) => isAboutOther(text) || (listedRoles.has(role) && isListHeading(text)),
  );
}

const ambiguous = new Set(ambiguousNames.map(normaliseLabel));

/**
 * The role of a field that the form labels like a whole name, if another field of the form asks for
 * one part of the name.
 */
export function roleAmong(
  { label, role }: FormField,
  roles: ReadonlySet<FieldRole | undefined>,
): FieldRole | undefined {
  if (role !== 'fullName' || !ambiguous.has(normaliseLabel(label))) return role;
  if (roles.has('givenName') === roles.has('familyName')) return role;
  return roles.has('givenName') ? 'familyName' : 'givenName';
}
