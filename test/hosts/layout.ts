import { serviceNames } from '@svc/local';
import type { WorldSize } from '../faults/world/types.ts';

/** A host of a run: a network namespace with one interface (`eth0`) apart from loopback. */
export interface NetworkHost {
  /** `tenants`, `postgres`, `redis`, or the name of a process, such as `gateway 0` or `node 0`. */
  readonly name: string;
  readonly namespace: string;
  readonly address: string;
}

export interface Layout {
  readonly bridge: string;
  readonly hosts: readonly NetworkHost[];
  /**
   * A second address of the tenants' host. The run asks `/ready` from this address, because no cut
   * between tenants and gateways affects this address.
   */
  readonly watchAddress: string;
}

/**
 * The first three parts of every host's address. No route leads out of the namespaces, so other
 * networks may use the same addresses.
 */
const network = '10.213.0';
export const networkBits = 24;
const firstHost = 10;

/**
 * The prefix of a run's namespace names. It contains the process id of the run, so a later run can
 * find the namespaces that a killed run left.
 */
export function runName(pid: number): string {
  return `svch${pid}`;
}

export function pidOfNamespace(namespace: string): number | undefined {
  const found = /^svch(\d+)-/u.exec(namespace)?.[1];
  return found === undefined ? undefined : Number(found);
}

export function layoutOf(run: string, size: WorldSize): Layout {
  const processes = serviceNames.flatMap((service) => numbered(service, size.counts[service]));
  const names = ['tenants', 'postgres', 'redis', ...processes, ...numbered('node', size.nodes)];
  return {
    bridge: `${run}-bridge`,
    hosts: names.map((name, index) => ({
      name,
      namespace: `${run}-${name.replace(' ', '-')}`,
      address: `${network}.${firstHost + index}`,
    })),
    watchAddress: `${network}.2`,
  };
}

function numbered(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${name} ${index}`);
}

export function hostOf({ hosts }: Layout, name: string): NetworkHost {
  const found = hosts.find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no host ${name}`);
  return found;
}

export function inside({ namespace }: Pick<NetworkHost, 'namespace'>): string[] {
  return ['ip', 'netns', 'exec', namespace];
}
