import { inCheckout } from './paths.ts';

export const serviceNames = ['gateway', 'dispatcher', 'settlement', 'webhooks'] as const;
export type ServiceName = (typeof serviceNames)[number];

export function serviceEntry(service: ServiceName): string {
  return inCheckout('services', service, 'src/main.ts');
}

export const adminCliEntry = inCheckout('packages/admin-cli/src/main.ts');

export const nodeAgentEntry = inCheckout('packages/node-agent/src/main.ts');
