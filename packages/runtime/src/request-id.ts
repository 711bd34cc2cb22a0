import { requestIdLengthMax } from '@svc/domain';

const acceptable = new RegExp(`^[A-Za-z0-9._-]{1,${requestIdLengthMax}}$`);

/** Keeps a valid incoming `x-request-id`, else returns a new one (CONTRACT 2). */
export function requestIdOf(header: string | string[] | undefined, newId: () => string): string {
  return typeof header === 'string' && acceptable.test(header) ? header : newId();
}
