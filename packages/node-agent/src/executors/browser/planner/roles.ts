import { standardFields } from '@svc/contracts';
import type { FieldRole, WidgetKind } from './form-model.ts';
import { normaliseLabel } from './label.ts';

const roleByLabel = new Map<string, FieldRole>();
const roleByToken = new Map<string, FieldRole>();
for (const { role, labels, autocomplete } of standardFields) {
  for (const label of labels) {
    const key = normaliseLabel(label);
    // "Cover letter" is the label of two roles. The map keeps the first one, `coverLetterText`.
    if (!roleByLabel.has(key)) roleByLabel.set(key, role);
  }
  for (const token of autocomplete) roleByToken.set(token, role);
}

export function roleOfLabel(label: string, kind?: WidgetKind): FieldRole | undefined {
  const role = roleByLabel.get(normaliseLabel(label));
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
