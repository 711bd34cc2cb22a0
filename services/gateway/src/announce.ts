import type { GatewayDeps } from './deps.ts';

/**
 * Announces a committed change to other services. A failure is only logged: without Redis, the
 * reconcilers and a node's next frame make up for the lost announcement.
 */
export async function announce(
  { logger }: Pick<GatewayDeps, 'logger'>,
  fields: Readonly<Record<string, string>>,
  messages: readonly Promise<void>[],
): Promise<void> {
  for (const result of await Promise.allSettled(messages)) {
    if (result.status === 'rejected') {
      logger.warn({ ...fields, err: result.reason }, 'could not announce a committed change');
    }
  }
}
