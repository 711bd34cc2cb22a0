import type { Client } from './client-methods.ts';
import { type ClientOptions, connect } from './connection.ts';
import { listsOf, methodsOf } from './operations.ts';
import { waitFor } from './wait-for.ts';

/**
 * Creates a client that signs requests and returns typed answers. The client keeps no timer between
 * calls.
 */
export function createClient(options: ClientOptions): Client {
  const connection = connect(options);
  const methods = methodsOf(connection);
  return {
    ...methods,
    ...listsOf(connection),
    waitFor: (id, call) => waitFor(connection, methods.getSubmission, id, call),
  };
}
