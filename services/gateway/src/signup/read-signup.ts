import { compileSchema, fieldErrorAt, SignupRequest } from '@svc/contracts';
import { jsonPointer } from '@svc/domain';
import type { ProblemAnswer } from '../http/answer.ts';
import type { OpenRequest } from '../http/endpoint.ts';
import { validationProblem } from '../http/read-json.ts';
import { compileBody } from '../http/read-object.ts';

export type SignupReading =
  | { readonly kind: 'read'; readonly signup: SignupRequest }
  | ProblemAnswer;

const checkJson = compileBody(SignupRequest, []);
const validate = compileSchema(SignupRequest);
const formMediaType = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * True if the media type is `application/x-www-form-urlencoded`, which the sign-up page sends. The
 * sign-up endpoint then answers with an HTML page.
 */
export function isForm({ contentType = '' }: Pick<OpenRequest, 'contentType'>): boolean {
  return formMediaType.test(contentType);
}

export function readSignup(request: OpenRequest): SignupReading {
  if (isForm(request)) return readForm(request);
  const body = checkJson(request);
  return body.kind === 'problem' ? body : { kind: 'read', signup: body.value };
}

/** The decoded text of a form field. Empty if the field is missing or the body is not UTF-8. */
export function formField(body: Buffer, name: string): string {
  try {
    return new URLSearchParams(utf8.decode(body)).get(name) ?? '';
  } catch {
    return '';
  }
}

function firstRepeated(names: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return names.find((name) => seen.size === seen.add(name).size);
}

function readForm({ body }: OpenRequest): SignupReading {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    return validationProblem([fieldErrorAt('', 'The form must be encoded as UTF-8', 'form')]);
  }
  const fields = [...new URLSearchParams(text)];
  const repeated = firstRepeated(fields.map(([name]) => name));
  if (repeated !== undefined) {
    const pointer = jsonPointer([repeated]);
    return validationProblem([fieldErrorAt(pointer, 'must not appear twice', 'uniqueMembers')]);
  }
  const unsafe = fields.find(([, value]) => value.includes('\0'));
  if (unsafe !== undefined) {
    const pointer = jsonPointer([unsafe[0]]);
    return validationProblem([fieldErrorAt(pointer, 'must not contain U+0000', 'unsafeString')]);
  }
  // If the person leaves the URL out, the form sends an empty field.
  const plain = Object.fromEntries(
    fields.filter(([name, value]) => name !== 'webhookUrl' || value !== ''),
  );
  const validation = validate(plain);
  if (validation.kind === 'invalid') return validationProblem(validation.errors);
  return { kind: 'read', signup: validation.value };
}
