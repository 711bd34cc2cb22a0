import { inCheckout } from './paths.ts';

/** The four services, in the order in which they are started. */
export const serviceNames = ['gateway', 'dispatcher', 'settlement', 'webhooks'] as const;
export type ServiceName = (typeof serviceNames)[number];

/** The file that is a service's process. */
export function serviceEntry(service: ServiceName): string {
  return inCheckout('services', service, 'src/main.ts');
}

/** The file that is the admin CLI's process, `svc`. */
export const adminCliEntry = inCheckout('packages/admin-cli/src/main.ts');

/** The file that is a node's process. */
export const nodeAgentEntry = inCheckout('packages/node-agent/src/main.ts');
