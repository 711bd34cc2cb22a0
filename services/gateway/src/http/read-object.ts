import {
  compileSchema,
  creditsMax,
  type FieldError,
  fieldErrorAt,
  fieldErrorsMax,
} from '@svc/contracts';
import {
  type JsonDocument,
  jsonPointer,
  type JsonObject,
  memberValue,
  parseCreditsExact,
  plainValue,
} from '@svc/domain';
import type { Static, TSchema } from 'typebox';
import type { ProblemAnswer } from './answer.ts';
import { readJson, validationProblem } from './read-json.ts';
import type { SignedRequest } from './signed-request.ts';

export interface JsonBody {
  readonly kind: 'body';
  readonly document: JsonDocument;
  readonly root: JsonObject;
  readonly plain: unknown;
}

/**
 * The number of nested levels that the schemas of requests check. `payload.jobContext.title` is at
 * level 3.
 */
const schemaLevels = 3;

/**
 * Reads a body that must be one JSON object without repeated member names. Does not look for
 * repeated names in nested objects.
 */
export function readObject(
  request: Pick<SignedRequest, 'body' | 'contentType' | 'contentEncoding'>,
): JsonBody | ProblemAnswer {
  const reading = readJson(request);
  if (reading.kind === 'problem') return reading;
  const { document } = reading;
  const { root } = document;
  if (root.kind !== 'object') {
    return validationProblem([{ path: '', message: 'must be an object', keyword: 'type' }]);
  }
  if (root.duplicateNames.length > 0) {
    return duplicatesProblem(root.duplicateNames.map((name) => jsonPointer([name])));
  }
  return { kind: 'body', document, root, plain: plainValue(root, schemaLevels) };
}

/**
 * The `422` for members that appear twice. The service refuses them, because some parsers use the
 * first value of such a member, and others the last.
 */
export function duplicatesProblem(pointers: readonly string[]): ProblemAnswer {
  return validationProblem(
    pointers
      .slice(0, fieldErrorsMax)
      .map((pointer) => fieldErrorAt(pointer, 'must not appear twice', 'uniqueMembers')),
  );
}

export type CheckedBody<Value> =
  | {
      readonly kind: 'checked';
      readonly value: Value;
      /** The amounts in the body, in exact micros, by member name. */
      readonly amounts: ReadonlyMap<string, bigint>;
    }
  | ProblemAnswer;

/**
 * Compiles the check of a body whose schema has no nested objects. The members in `amounts` are
 * read as exact decimals with at most six places (CONTRACT 4).
 */
export function compileBody<Schema extends TSchema>(
  schema: Schema,
  amounts: readonly string[],
): (
  request: Pick<SignedRequest, 'body' | 'contentType' | 'contentEncoding'>,
) => CheckedBody<Static<Schema>> {
  const validate = compileSchema(schema);
  return (request) => {
    const body = readObject(request);
    if (body.kind === 'problem') return body;
    const validation = validate(body.plain);
    if (validation.kind === 'invalid') return validationProblem(validation.errors);
    const exact = new Map<string, bigint>();
    const refused: FieldError[] = [];
    for (const name of amounts) {
      const node = memberValue(body.root, name);
      if (node?.kind !== 'number') continue;
      const micros = parseCreditsExact(node.text);
      if (micros === undefined) refused.push(amountError(name, Number(node.text)));
      else exact.set(name, micros);
    }
    return refused.length === 0
      ? { kind: 'checked', value: validation.value, amounts: exact }
      : validationProblem(refused);
  };
}

function amountError(name: string, amount: number): FieldError {
  const pointer = jsonPointer([name]);
  return amount > creditsMax
    ? fieldErrorAt(pointer, `must be at most ${creditsMax}`, 'maximum')
    : fieldErrorAt(pointer, 'must have at most six decimals', 'multipleOf');
}
