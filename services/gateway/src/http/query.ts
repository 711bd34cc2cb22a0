import type { ProblemError } from '@svc/contracts';
import { fieldErrorAt, fieldErrorsMax } from '@svc/contracts';
import type { ProblemAnswer } from './answer.ts';
import { validationProblem } from './read-json.ts';

/**
 * Refuses query parameters that an endpoint does not have (CONTRACT section 2); undefined where
 * there are none such. `target` is the request target as sent.
 */
export function unknownParameters(
  target: string,
  known: readonly string[],
): ProblemAnswer | undefined {
  const start = target.indexOf('?');
  if (start === -1) return undefined;
  const names = new Set(new URLSearchParams(target.slice(start + 1)).keys());
  const unknown = [...names].filter((name) => !known.includes(name)).slice(0, fieldErrorsMax);
  if (unknown.length === 0) return undefined;
  return validationProblem(unknown.map(parameterError), 'A query parameter is not known here.');
}

function parameterError(name: string): ProblemError {
  const { path: parameter } = fieldErrorAt(name, '', '');
  return {
    path: '',
    parameter,
    message: 'is not a parameter that is known here',
    keyword: 'query',
  };
}
