import type { FieldError, ProblemError } from '@svc/contracts';
import { compileSchema, fieldErrorAt, fieldErrorsMax } from '@svc/contracts';
import type { Static, TObject } from 'typebox';
import type { ProblemAnswer } from './answer.ts';
import { validationProblem } from './read-json.ts';

export type QueryReading<Query> = { readonly kind: 'query'; readonly query: Query } | ProblemAnswer;

/**
 * Returns a function that reads the query of a request target. It refuses unknown, repeated and
 * invalid parameters (CONTRACT 2).
 */
export function compileQuery<Query extends TObject>(
  schema: Query,
): (target: string) => QueryReading<Static<Query>> {
  const validate = compileSchema(schema);
  const known = new Set(Object.keys(schema.properties));
  const integers = new Set(
    Object.entries(schema.properties).flatMap(([name, property]) =>
      'type' in property && property.type === 'integer' ? [name] : [],
    ),
  );
  return (target) => {
    const start = target.indexOf('?');
    const query = start === -1 ? '' : target.slice(start + 1);
    // If there are more than `known.size` parameters, one is unknown or repeated, so the query is
    // refused.
    const { values, errors } = collect(firstParameters(query, known.size + 1), known, integers);
    const validation = validate(values);
    if (validation.kind === 'valid' && errors.length === 0) {
      return { kind: 'query', query: validation.value };
    }
    const violations = validation.kind === 'valid' ? [] : validation.errors.map(parameterError);
    return queryProblem([...errors, ...violations].slice(0, fieldErrorsMax));
  };
}

export function queryProblem(errors: readonly ProblemError[]): ProblemAnswer {
  return validationProblem(errors, 'A query parameter is invalid. `errors` lists what to correct.');
}

/** Decodes at most the first `countMax` parameters. */
function firstParameters(query: string, countMax: number): URLSearchParams {
  let end = 0;
  for (let count = 0; count < countMax && end < query.length;) {
    const next = query.indexOf('&', end);
    const behind = next === -1 ? query.length : next;
    if (behind > end) count += 1;
    end = behind + 1;
  }
  return new URLSearchParams(query.slice(0, end));
}

interface Collected {
  readonly values: Record<string, string | number>;
  readonly errors: ProblemError[];
}

const wholeNumber = /^(?:0|[1-9][0-9]{0,8})$/;

function collect(
  parameters: URLSearchParams,
  known: ReadonlySet<string>,
  integers: ReadonlySet<string>,
): Collected {
  const values: Record<string, string | number> = {};
  const errors: ProblemError[] = [];
  for (const name of new Set(parameters.keys())) {
    const [value = '', ...more] = parameters.getAll(name);
    if (!known.has(name)) {
      errors.push(errorOf(name, 'is not a known parameter of this endpoint', 'query'));
    } else if (more.length > 0) {
      errors.push(errorOf(name, 'must not be given more than once', 'query'));
    } else if (value.includes('\0')) {
      errors.push(errorOf(name, 'must not contain U+0000', 'unsafeString'));
    } else {
      values[name] = integers.has(name) && wholeNumber.test(value) ? Number(value) : value;
    }
  }
  return { values, errors };
}

function errorOf(name: string, message: string, keyword: string): ProblemError {
  const { path: parameter } = fieldErrorAt(name, '', '');
  return { path: '', parameter, message, keyword };
}

/** The query is a flat object, so the path is `/` and the name of the parameter. */
function parameterError({ path, message, keyword }: FieldError): ProblemError {
  return errorOf(path.slice(1), message, keyword);
}
