import path from 'node:path';
import { startServiceProcess } from '@svc/local';
import type { Hosts } from '../faults/world/hosts.ts';
import { hostOf, inside, type Layout } from './layout.ts';

const balancerEntry = path.join(import.meta.dirname, 'balancer.ts');

/**
 * The hosts of a run in which each process of a service and each node has a separate network
 * namespace. This process runs in the namespace of the tenants.
 */
export function namespacedHosts(layout: Layout): Hosts {
  return {
    of(processName) {
      const host = hostOf(layout, processName);
      return { address: host.address, prefix: inside(host) };
    },
    tenantsAddress: hostOf(layout, 'tenants').address,
    direct: {
      // Each load balancer ends with this process, or when `closeNetwork` removes the namespace of
      // its node.
      async balance(nodeName, dispatchers) {
        const { ready } = await startServiceProcess({
          name: `load balancer of ${nodeName}`,
          prefix: inside(hostOf(layout, nodeName)),
          entry: balancerEntry,
          args: dispatchers.map(({ host, port }) => `${host}:${port}`),
          env: { PATH: process.env['PATH'] },
        });
        if (ready.port === undefined) throw new Error('a load balancer has no port');
        return ready.port;
      },
    },
  };
}
