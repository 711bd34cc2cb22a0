import { Resolver } from 'node:dns/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { secondFamilyWaitMs } from '@svc/domain';

/**
 * Resolves a name to its IPv4 and IPv6 addresses, or to those of one family if the query for the
 * other fails or is slow. Rejects if no address is found.
 */
export type LookUp = (name: string) => Promise<readonly string[]>;

const queryTimeoutMs = 3_000;
const queryTriesMax = 2;

/**
 * Uses `Resolver`, because each `dns.lookup` occupies one of the few threads that all jobs share.
 * The default of `servers` is the name servers of the system.
 */
export function createLookUp(servers?: readonly string[]): LookUp {
  const resolver = new Resolver({ timeout: queryTimeoutMs, tries: queryTriesMax });
  if (servers !== undefined) resolver.setServers(servers);
  return askFamilies((name, family) =>
    family === 4 ? resolver.resolve4(name) : resolver.resolve6(name),
  );
}

/**
 * Asks for both families at once. If one has addresses, the other has `secondFamilyWaitMs` more.
 * Rejects with the first error as the cause.
 */
export function askFamilies(
  ask: (name: string, family: 4 | 6) => Promise<readonly string[]>,
): LookUp {
  return async (name) => {
    const found: string[] = [];
    const errors: unknown[] = [];
    const asked = ([4, 6] as const).map(async (family) => {
      try {
        found.push(...(await ask(name, family)));
      } catch (error) {
        errors.push(error);
        throw error;
      }
    });
    const all = Promise.allSettled(asked);
    // Waits for both if one fails. Some name servers drop the queries for one family.
    await Promise.any(asked).catch(() => {});
    await Promise.race([all, delay(secondFamilyWaitMs, undefined, { ref: false })]);
    if (found.length === 0)
      throw new Error(`the name servers gave no address for ${name}`, { cause: errors[0] });
    // A late answer does not change what was returned.
    return [...found];
  };
}
