import { Resolver } from 'node:dns/promises';

/**
 * Resolves a name to its IPv4 and IPv6 addresses, or to those of one family if the query for the
 * other fails. Rejects if no address is found.
 */
export type LookUp = (name: string) => Promise<readonly string[]>;

const queryTimeoutMs = 3_000;
const queryTriesMax = 2;

/**
 * Uses `Resolver` instead of `dns.lookup`. Each `dns.lookup` occupies one of the few threads that
 * all jobs share, so slow look-ups of one page would delay other jobs.
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
