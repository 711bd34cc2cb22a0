import type { ServerAddress } from './redis-address.ts';

export interface ClusterNode {
  readonly address: ServerAddress;
  readonly isMaster: boolean;
  /** True if the majority of masters cannot reach this server. */
  readonly isFailed: boolean;
  /**
   * The config epoch of Redis Cluster. If two servers claim the same hash slot, the server with the
   * higher epoch owns it.
   */
  readonly epoch: number;
  /** The first and the last hash slot of each range that the server claims. */
  readonly slots: readonly (readonly [number, number])[];
}

/**
 * Parses the answer of the server `asked` to the command `CLUSTER NODES`. Skips servers without an
 * address, and servers that are still joining the cluster.
 */
export function parseClusterNodes(
  text: string,
  asked: ServerAddress,
  { isEncrypted }: { readonly isEncrypted: boolean },
): ClusterNode[] {
  return text.split('\n').flatMap((line) => {
    const [, place = '', flagText = '', , , , epoch = '0', , ...ranges] = line.trim().split(' ');
    const flags = flagText.split(',');
    const address = addressIn(place, flags.includes('myself') ? asked : undefined, isEncrypted);
    if (address === undefined || flags.includes('noaddr') || flags.includes('handshake')) return [];
    return {
      address,
      isMaster: flags.includes('master'),
      isFailed: flags.includes('fail'),
      epoch: Number(epoch),
      slots: ranges.flatMap(rangeIn),
    };
  });
}

/**
 * Reads `place`, which is `ip:port@busport[,hostname]`. Undefined if `place` is malformed, or if
 * `place` has no usable host and `own` is undefined.
 */
function addressIn(
  place: string,
  own: ServerAddress | undefined,
  isEncrypted: boolean,
): ServerAddress | undefined {
  const found = /^(.*):(\d+)(?:@\d+)?(?:,([^,=]*))?(?:,.*)?$/.exec(place);
  if (found === null) return undefined;
  const [, ip = '', port = '', name = ''] = found;
  // With TLS the host name is preferred, because a certificate rarely contains an IP address.
  const host = isEncrypted && name !== '' ? name : ip;
  if (host !== '') return { host, port: Number(port) };
  // A server that has met no other server does not know its own host.
  return own === undefined ? undefined : { host: own.host, port: Number(port) };
}

/**
 * Parses a range of hash slots, such as `0-5460` or `77`. Returns an empty list for any other text.
 */
function rangeIn(text: string): [number, number][] {
  const found = /^(\d+)(?:-(\d+))?$/.exec(text);
  // A slot that is being moved (`[77->-<id>]`) is also in a range of its present owner.
  if (found === null) return [];
  const [, first = '', last = first] = found;
  return [[Number(first), Number(last)]];
}

/**
 * The address of the master that claims a hash slot with the highest epoch. Undefined if no master
 * claims the slot, or if this master counts as failed.
 */
export function ownerOfSlot(
  nodes: readonly ClusterNode[],
  slot: number,
): ServerAddress | undefined {
  const claims = nodes.filter(
    ({ isMaster, slots }) =>
      isMaster && slots.some(([first, last]) => first <= slot && slot <= last),
  );
  const newest = Math.max(...claims.map(({ epoch }) => epoch));
  const answers = claims.filter(({ epoch }) => epoch === newest);
  return answers.some(({ isFailed }) => isFailed) ? undefined : answers[0]?.address;
}

const slotCount = 16_384;

/**
 * The hash slot of a key is its CRC16 (XMODEM) modulo 16,384. If the key has a hash tag, only the
 * tag counts: `{a}:b` has the slot of `a`.
 */
export function slotOf(key: string): number {
  const [, tag = key] = /^[^{]*\{([^}]+)\}/.exec(key) ?? [];
  let crc = 0;
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) {
      crc = ((crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021) & 0xffff;
    }
  }
  return crc % slotCount;
}
