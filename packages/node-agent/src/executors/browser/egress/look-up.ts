import { Resolver } from 'node:dns/promises';

/**
 * Resolves a name to its IPv4 and IPv6 addresses. If the query for one family fails, the result has
 * only the addresses of the other. Rejects if no address is found.
 */
export type LookUp = (name: string) => Promise<readonly string[]>;

const queryTimeoutMs = 3_000;
const queryTriesMax = 2;

/**
 * Creates a look-up that asks the name servers of the system directly. It does not use
 * `dns.lookup`, because a page could then delay other jobs: all jobs share the threads of
 * `dns.lookup`, and names whose name servers do not answer occupy these threads.
 */
export function createLookUp(): LookUp {
  const resolver = new Resolver({ timeout: queryTimeoutMs, tries: queryTriesMax });
  return async (name) => {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    if (addresses.length === 0) throw new Error(`the name servers gave no address for ${name}`);
    return addresses;
  };
}
