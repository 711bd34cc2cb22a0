import type { Driver } from '../load/children.ts';
import { options } from '../options.ts';
import { createNodes, createTenants, openStack } from '../systems/stack.ts';
import { type CancelLatencies, measureCancels } from './cancels.ts';
import { type DeadNodes, measureDeadNodes } from './dead-nodes.ts';

interface FleetRig {
  cancels(): Promise<CancelLatencies>;
  deadNodes(driver: Driver): Promise<DeadNodes>;
}

export async function measureFleet(
  dir: string,
  measure: (rig: FleetRig) => Promise<void>,
): Promise<void> {
  const stack = await openStack({ dir, durable: true });
  try {
    const gateway = await stack.start('gateway');
    const dispatchers = [await stack.start('dispatcher'), await stack.start('dispatcher')];
    await stack.start('settlement');
    const gatewayUrl = `http://127.0.0.1:${gateway.ready.port}`;
    const ports = dispatchers.map(({ ready }) => ready.port ?? 0);
    const { count: cancels, atOnce } = options.cancels;
    const tenants = await createTenants(stack, atOnce, null);
    await measure({
      async cancels() {
        const nodes = await createNodes(stack, ports.length, ports);
        return measureCancels({ gatewayUrl, tenants, nodes, cancels, atOnce });
      },
      async deadNodes(driver) {
        const { waitForRuns, nodes: count } = options.deadNodes;
        const nodes = await createNodes(stack, count, ports);
        return measureDeadNodes({ stack, driver, gatewayUrl, tenants, nodes, waitForRuns });
      },
    });
  } finally {
    await stack.close();
  }
}
