import type { GatewayDeps } from './deps.ts';

/**
 * Notifies other services of a committed change. A failure is only logged, because a reconciler or
 * a node's next frame has the same effect later.
 */
export async function announce(
  { logger }: Pick<GatewayDeps, 'logger'>,
  fields: Readonly<Record<string, string>>,
  messages: readonly Promise<void>[],
): Promise<void> {
  for (const result of await Promise.allSettled(messages)) {
    if (result.status === 'rejected') {
      logger.warn(
        { ...fields, err: result.reason },
        'could not notify other services of a committed change',
      );
    }
  }
}
