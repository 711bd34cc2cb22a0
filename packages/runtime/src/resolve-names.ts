import { lookup as systemLookup, Resolver, type LookupAddress, type LookupOptions } from 'node:dns';
import { secondFamilyWaitMs } from '@svc/domain';

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

  return askFamilies((hostname, family, done) => {
    if (family === 4) resolver.resolve4(hostname, done);
    else resolver.resolve6(hostname, done);
  });
}

/**
 * Resolves a name as the system does, including `/etc/hosts`. The look-up uses a thread pool that
 * the whole process shares.
 */
export const resolveAllBySystem: ResolveAll = askFamilies((hostname, family, done) => {
  systemLookup(hostname, { family, all: true }, (error, addresses) => {
    done(error, error === null ? addresses.map(({ address }) => address) : []);
  });
});

type AskFamily = (
  hostname: string,
  family: 4 | 6,
  done: (error: NodeJS.ErrnoException | null, addresses: string[]) => void,
) => void;

/**
 * Asks for both families at once. If one has addresses, the other has `secondFamilyWaitMs` more.
 * Otherwise the other has the whole time of its query.
 */
function askFamilies(ask: AskFamily): ResolveAll {
  return (hostname, { family }, callback) => {
    const both: readonly (4 | 6)[] = [4, 6];
    const families = both.filter((one) => family !== (one === 4 ? 6 : 4));
    const found: LookupAddress[] = [];
    let left = families.length;
    let isOver = false;
    let timer: NodeJS.Timeout | undefined;
    const finish = (error: NodeJS.ErrnoException | null): void => {
      clearTimeout(timer);
      isOver = true;
      callback(error, found);
    };
    for (const one of families) {
      ask(hostname, one, (error, addresses) => {
        if (isOver) return;
        if (error === null) found.push(...addresses.map((address) => ({ address, family: one })));
        left -= 1;
        if (left > 0 && found.length > 0) timer = setTimeout(finish, secondFamilyWaitMs, null);
        if (left > 0) return;
        finish(found.length > 0 ? null : (error ?? new Error(`${hostname} has no address`)));
      });
    }
  };
}
