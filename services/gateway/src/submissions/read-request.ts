import {
  compileSchema,
  type FieldError,
  fieldErrorAt,
  fieldErrorsMax,
  findJobType,
  IdempotencyKey,
  type OfferedPayload,
  QuoteRequest,
  SubmissionRequest,
} from '@svc/contracts';
import {
  canonicalText,
  duplicateNamePointers,
  isTier,
  type JsonNode,
  jsonPointer,
  jsonTextFault,
  memberValue,
  payloadMemberDepthMax,
  rawText,
  type Tier,
  tierDefault,
  tiers,
  withDefaultString,
} from '@svc/domain';
import { Type } from 'typebox';
import { problem, type ProblemAnswer } from '../http/answer.ts';
import { validationProblem } from '../http/read-json.ts';
import { duplicatesProblem, type JsonBody } from '../http/read-object.ts';

/**
 * This module checks the body of a submission or a quote, in the order of CONTRACT 3. It does no
 * I/O.
 */

const validateKey = compileSchema(Type.Object({ idempotencyKey: IdempotencyKey }));

export function readIdempotencyKey(
  body: JsonBody,
): { readonly kind: 'key'; readonly key: string } | ProblemAnswer {
  const validation = validateKey(body.plain);
  if (validation.kind === 'invalid') return validationProblem(validation.errors);
  return { kind: 'key', key: validation.value.idempotencyKey };
}

/**
 * The canonical text of the body. Bodies of equal meaning have the same text (CONTRACT 3), unless a
 * number has an exponent of more than 1,000 characters (`canonicalText`).
 */
export function canonicalRequest(body: JsonBody): string {
  return canonicalText(withDefaultString(body.root, 'tier', tierDefault));
}

export interface CheckedJob {
  readonly kind: 'job';
  readonly jobType: string;
  readonly tier: Tier;
  /** The payload's text exactly as sent, with all digits and the order of its members. */
  readonly payloadText: string;
  readonly payload: OfferedPayload;
}

const validateSubmission = compileSchema(SubmissionRequest);
const validateQuote = compileSchema(QuoteRequest);

function tooDeepMembers({ document }: JsonBody, payload: JsonNode): FieldError[] {
  const members = payload.kind === 'object' ? payload.members : [];
  const deep = members.filter(
    ({ value }) => jsonTextFault(rawText(document, value), payloadMemberDepthMax) === 'too_deep',
  );
  const message = `must nest at most ${payloadMemberDepthMax} levels deep`;
  return deep
    .slice(0, fieldErrorsMax)
    .map(({ name }) => fieldErrorAt(`/payload${jsonPointer([name])}`, message, 'maxDepth'));
}

/**
 * Checks envelope, job type, allowlist, tier and payload, in this order. The first check that fails
 * decides the answer.
 */
export function checkJob(
  body: JsonBody,
  use: 'submission' | 'quote',
  allowedJobTypes: readonly string[],
): CheckedJob | ProblemAnswer {
  const envelope =
    use === 'submission' ? validateSubmission(body.plain) : validateQuote(body.plain);
  if (envelope.kind === 'invalid') return validationProblem(envelope.errors);
  const { jobType, tier = tierDefault, payload } = envelope.value;
  const definition = findJobType(jobType);
  if (definition === undefined) {
    return problem('unknown_job_type', 'The job type does not exist. Check `jobType`.');
  }
  if (!allowedJobTypes.includes(jobType)) {
    return problem(
      'job_type_not_allowed',
      'This job type is not on the allowlist of this tenant. Ask the operator to allow it.',
    );
  }
  if (!isTier(tier)) {
    return problem('unknown_tier', `The tier must be one of ${tiers.join(', ')}.`);
  }
  const payloadNode = memberValue(body.root, 'payload') ?? body.root;
  const tooDeep = tooDeepMembers(body, payloadNode);
  if (tooDeep.length > 0) return validationProblem(tooDeep);
  const duplicates = duplicateNamePointers(payloadNode, definition.opaqueMembers, fieldErrorsMax);
  if (duplicates.length > 0) {
    return duplicatesProblem(duplicates.map((pointer) => `/payload${pointer}`));
  }
  const validation = definition.validatePayload(payload, '/payload');
  if (validation.kind === 'invalid') return validationProblem(validation.errors);
  const payloadText = rawText(body.document, payloadNode);
  return { kind: 'job', jobType, tier, payloadText, payload: validation.value };
}
