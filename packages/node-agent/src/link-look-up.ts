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

type Callback = Parameters<LookupFunction>[2];

/** Gives `lookUp` the form that Node.js needs to open a connection. */
export function connectingBy(lookUp: LookUp): LookupFunction {
  const answer = async (name: string, isAll: boolean, callback: Callback): Promise<void> => {
    let addresses: readonly string[];
    try {
      addresses = await lookUp(name);
    } catch (error) {
      // The cause has the code of the system, such as `ENOTFOUND`.
      const { cause } = Object(error);
      callback(cause instanceof Error ? cause : Object(error), '');
      return;
    }
    const found = addresses.map((address) => ({ address, family: isIP(address) }));
    if (isAll) callback(null, found);
    else callback(null, found[0]?.address ?? '', found[0]?.family);
  };
  return (name, { all: isAll = false }, callback) => void answer(name, isAll, callback);
}
