import type { Answer, Refusal } from './adapter.ts';

/** Undefined if the body is not a JSON object or array. */
export function jsonOf({ bodyText }: Answer): unknown {
  if (bodyText === undefined || !/^\s*[[{]/u.test(bodyText)) return undefined;
  try {
    return JSON.parse(bodyText);
  } catch {
    return undefined;
  }
}

export function memberOf(value: unknown, ...names: readonly string[]): unknown {
  let at = value;
  for (const name of names) {
    if (typeof at !== 'object' || at === null) return undefined;
    at = Object.entries(at).find(([own]) => own === name)?.[1];
  }
  return at;
}

/**
 * The refusal, if a 4xx answer proves that the ATS has not taken the application. Otherwise
 * undefined.
 */
export function refusalByStatus(answer: Answer): Refusal | undefined {
  const { status } = answer;
  if (status < 400 || status >= 500 || status === 408) return undefined;
  const json = jsonOf(answer);
  if (status === 428 || mentionsCaptcha(json)) return { kind: 'captcha' };
  if (status === 404 || status === 410) return { kind: 'closed' };
  const fields = namedFields(json);
  if (fields.length > 0) return { kind: 'fields', fields };
  return status === 409 || status === 429 ? { kind: 'rejected' } : undefined;
}

export function mentionsCaptcha(json: unknown): boolean {
  if (typeof json === 'string') return json.length <= 300 && /captcha/iu.test(json);
  if (typeof json !== 'object' || json === null) return false;
  return Object.values(json).some(mentionsCaptcha);
}

function namedFields(json: unknown): string[] {
  const errors =
    memberOf(json, 'errors') ?? memberOf(json, 'fieldErrors') ?? memberOf(json, 'error');
  if (Array.isArray(errors)) {
    return errors.flatMap((error: unknown) =>
      ['field', 'path', 'name', 'key', 'fieldPath', 'label']
        .map((name) => memberOf(error, name))
        .filter((name) => typeof name === 'string'),
    );
  }
  return typeof errors === 'object' && errors !== null ? Object.keys(errors) : [];
}
