import type { FieldError, ProblemError } from '@svc/contracts';
import { compileSchema, fieldErrorAt, fieldErrorsMax } from '@svc/contracts';
import type { Static, TObject } from 'typebox';
import type { ProblemAnswer } from './answer.ts';
import { validationProblem } from './read-json.ts';

export type QueryReading<Query> = { readonly kind: 'query'; readonly query: Query } | ProblemAnswer;

/**
 * Compiles the schema of an endpoint's query parameters into a reader of request targets as sent
 * (CONTRACT 2): what is unknown, given twice or against the schema is refused, all at once.
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
    const { values, errors } = collect(firstParameters(query, known.size + 1), known, integers);
    const validation = validate(values);
    if (validation.kind === 'valid' && errors.length === 0) {
      return { kind: 'query', query: validation.value };
    }
    const violations = validation.kind === 'valid' ? [] : validation.errors.map(parameterError);
    return validationProblem(
      [...errors, ...violations].slice(0, fieldErrorsMax),
      'A query parameter is not as it must be; see `errors`.',
    );
  };
}

/**
 * The first `countMax` parameters of a query. One more than an endpoint knows is enough to refuse
 * it, because one of them is then unknown or given twice; the rest is not decoded.
 */
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

/** The values that the schema is to look at, and what no schema of one object can tell. */
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
      errors.push(errorOf(name, 'is not a parameter that is known here', 'query'));
    } else if (more.length > 0) {
      errors.push(errorOf(name, 'must be given once', 'query'));
    } else if (value.includes('\0')) {
      errors.push(errorOf(name, 'must not hold U+0000', 'unsafeString'));
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

/** Of a flat object: the pointer is the parameter's name, which needs no escaping. */
function parameterError({ path, message, keyword }: FieldError): ProblemError {
  return errorOf(path.slice(1), message, keyword);
}
