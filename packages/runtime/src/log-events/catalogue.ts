import type { LogEvent } from './definition.ts';
import { dispatcherEvents } from './dispatcher-events.ts';
import { gatewayEvents } from './gateway-events.ts';
import { processEvents } from './process-events.ts';
import { queueEvents } from './queue-events.ts';
import { settlementEvents, solanaEvents } from './settlement-events.ts';
import { webhooksEvents } from './webhooks-events.ts';

/**
 * Every event that a service logs, by name. `pnpm logs:docs` writes these events to docs/LOGS.md.
 */
export const logCatalogue: Readonly<Record<string, LogEvent>> = {
  ...processEvents,
  ...queueEvents,
  ...gatewayEvents,
  ...dispatcherEvents,
  ...settlementEvents,
  ...solanaEvents,
  ...webhooksEvents,
};

const eventByMessage = new Map(
  Object.entries(logCatalogue).map(([event, { message }]) => [message, event]),
);

/** The name of the event with this message. Undefined if the catalogue has no such message. */
export function eventOf(message: unknown): string | undefined {
  return typeof message === 'string' ? eventByMessage.get(message) : undefined;
}
