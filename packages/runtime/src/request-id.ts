import { requestIdLengthMax } from '@svc/domain';

const acceptable = new RegExp(`^[A-Za-z0-9._-]{1,${requestIdLengthMax}}$`);

/** Returns the `x-request-id` of a request if it is valid, otherwise a new id (CONTRACT 2). */
export function requestIdOf(header: string | string[] | undefined, newId: () => string): string {
  return typeof header === 'string' && acceptable.test(header) ? header : newId();
}
