import { Resolver, type LookupAddress, type LookupOptions } from 'node:dns';

export type ResolveAll = (
  hostname: string,
  options: LookupOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * The time limit of a query, until c-ares (the DNS library in Node) knows how fast the name server
 * answers. Then c-ares computes the limit.
 */
const queryTimeoutMs = 2_000;
const queryTriesMax = 2;

/**
 * Creates a resolver that sends DNS queries to `servers`. The default is the name servers of the
 * system.
 */
export function createResolver(servers?: readonly string[]): ResolveAll {
  // `dns.lookup` is not used, because name servers that do not answer could block its few threads
  // (decision 13).
  const resolver = new Resolver({ timeout: queryTimeoutMs, tries: queryTriesMax });
  if (servers !== undefined) resolver.setServers(servers);

  return (hostname, { family }, callback) => {
    const both: readonly (4 | 6)[] = [4, 6];
    const families = both.filter((one) => family !== (one === 4 ? 6 : 4));
    const found: LookupAddress[] = [];
    let left = families.length;
    for (const one of families) {
      const done = (error: NodeJS.ErrnoException | null, addresses: string[]): void => {
        if (error === null) found.push(...addresses.map((address) => ({ address, family: one })));
        left -= 1;
        if (left > 0) return;
        const none = error ?? new Error(`${hostname} has no address`);
        callback(found.length > 0 ? null : none, found);
      };
      if (one === 4) resolver.resolve4(hostname, done);
      else resolver.resolve6(hostname, done);
    }
  };
}
