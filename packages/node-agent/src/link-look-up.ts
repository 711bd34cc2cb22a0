import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { askFamilies, type LookUp } from './executors/browser/egress/look-up.ts';

/**
 * Resolves a name as the system does, including `/etc/hosts` and search domains. The name of a link
 * may need them.
 */
export const lookUpBySystem: LookUp = askFamilies(async (name, family) => {
  const found = await lookup(name, { family, all: true });
  return found.map(({ address }) => address);
});

/** Gives `lookUp` the form that Node.js needs to open a connection. */
export function connectingBy(lookUp: LookUp): LookupFunction {
  const find = async (name: string) =>
    (await lookUp(name)).map((address) => ({ address, family: isIP(address) }));
  return (name, { all: isAll = false }, callback) => {
    find(name).then(
      (found) => {
        if (isAll) callback(null, found);
        else callback(null, found[0]?.address ?? '', found[0]?.family);
      },
      // The cause has the code of the system, such as `ENOTFOUND`.
      (error: Error) => callback(error.cause instanceof Error ? error.cause : error, ''),
    );
  };
}
