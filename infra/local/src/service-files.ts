import { inCheckout } from './paths.ts';

export const serviceNames = ['gateway', 'dispatcher', 'settlement', 'webhooks'] as const;
export type ServiceName = (typeof serviceNames)[number];

/** The main file of a service. */
export function serviceEntry(service: ServiceName): string {
  return inCheckout('services', service, 'src/main.ts');
}

/** The main file of the admin CLI, `svc`. */
export const adminCliEntry = inCheckout('packages/admin-cli/src/main.ts');

/** The main file of the node agent. */
export const nodeAgentEntry = inCheckout('packages/node-agent/src/main.ts');
