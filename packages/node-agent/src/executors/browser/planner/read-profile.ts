import { ApplicantProfile as ProfileSchema, compileSchema, type FieldError } from '@svc/contracts';
import {
  assertNever,
  bodyBytesMax,
  duplicateNamePointers,
  failureMessageLengthMax,
  type JsonDocument,
  type JsonNode,
  type JsonObject,
  jsonTextFault,
  memberValue,
  parseJsonDocument,
  payloadMemberDepthMax,
  rawText,
} from '@svc/domain';
import { cutText, memberName } from './messages.ts';
import type { ProfileReading } from './profile.ts';
import { resolveProfile } from './resolve-profile.ts';

const validateProfile = compileSchema(ProfileSchema);

/**
 * Reads and checks a payload of `ats.application` (CONTRACT 10). Takes the JSON text, because
 * `JSON.parse` loses digits of numbers.
 */
export function readProfile(payloadText: string): ProfileReading {
  if (Buffer.byteLength(payloadText) > bodyBytesMax) {
    return invalid(`The payload has more than ${bodyBytesMax} bytes.`);
  }
  const parsing = parseJsonDocument(payloadText);
  if (parsing.kind === 'malformed') return invalid('The payload is not valid JSON.');
  const { root } = parsing.document;
  if (root.kind !== 'object') return invalid('The payload must be an object.');
  const applicationUrl = textMember(root, 'applicationUrl');
  const atsType = textMember(root, 'atsType');
  if (applicationUrl === undefined || !isHttpUrl(applicationUrl)) {
    return invalid('applicationUrl must be an http or https URL.');
  }
  if (atsType === undefined) return invalid('atsType must be a string.');
  const node = memberValue(root, 'applicantProfile');
  if (node?.kind !== 'object') return invalid('applicantProfile must be an object.');
  const refusal = refusalOf(parsing.document, node);
  if (refusal !== undefined) return invalid(refusal);
  const validation = validateProfile(exactValue(node));
  if (validation.kind === 'invalid') {
    return invalid(violationMessage(validation.errors));
  }
  const resolved = resolveProfile(validation.value);
  return resolved.kind === 'invalid'
    ? invalid(resolved.message)
    : { kind: 'profile', profile: resolved.profile, applicationUrl, atsType };
}

function invalid(message: string): ProfileReading {
  return { kind: 'invalid', message: cutText(message, failureMessageLengthMax) };
}

/**
 * Messages that replace unclear messages of the schema. A key is a keyword of JSON Schema, or a
 * keyword and a member such as `sha256`.
 */
const rules: Readonly<Record<string, string>> = {
  oneOf: 'must have either base64, or url with sha256',
  dependentRequired: 'must have either base64, or url with sha256',
  'pattern name': 'must be a file name without a path',
  'pattern contentType': 'must be a media type such as application/pdf',
  'pattern sha256': 'must be 64 hexadecimal digits',
};

function violationMessage(errors: readonly FieldError[]): string {
  // If no alternative of a `oneOf` matches, the errors of the alternatives come first. The error of
  // the `oneOf` is better, because it covers all alternatives.
  const error = errors.find(({ keyword }) => keyword === 'oneOf') ?? errors[0];
  if (error === undefined) return 'applicantProfile is not valid.';
  const { keyword, path, message } = error;
  const rule = rules[keyword] ?? rules[`${keyword} ${path.split('/').at(-1)}`] ?? message;
  return `${memberName(path)} ${rule}.`;
}

function refusalOf(document: JsonDocument, profile: JsonObject): string | undefined {
  if (jsonTextFault(rawText(document, profile), payloadMemberDepthMax) === 'too_deep') {
    return `applicantProfile may be at most ${payloadMemberDepthMax} levels deep.`;
  }
  const unsafe = document.unsafeStrings.find(({ pointer }) =>
    pointer.startsWith('/applicantProfile'),
  );
  if (unsafe !== undefined) {
    const name = memberName(unsafe.pointer.slice('/applicantProfile'.length));
    return `${name} must have neither U+0000 nor a lone surrogate.`;
  }
  const [twice] = duplicateNamePointers(profile, [], 1);
  return twice === undefined ? undefined : `${memberName(twice)} appears twice.`;
}

/**
 * Converts a `JsonNode` to a value. A number becomes its exact text. Objects lose their null
 * members.
 */
function exactValue(node: JsonNode): unknown {
  switch (node.kind) {
    case 'literal':
    case 'string':
      return node.value;
    case 'number':
      return node.text;
    case 'array':
      return node.items.map(exactValue);
    case 'object': {
      const object: Record<string, unknown> = { __proto__: null };
      for (const { name, value } of node.members) {
        const isNull = value.kind === 'literal' && value.value === null;
        if (!isNull) object[name] = exactValue(value);
      }
      return object;
    }
    default:
      return assertNever(node);
  }
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

function textMember(object: JsonObject, name: string): string | undefined {
  const node = memberValue(object, name);
  return node?.kind === 'string' ? node.value : undefined;
}
