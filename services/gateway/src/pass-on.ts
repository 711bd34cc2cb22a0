import type { GatewayDeps } from './deps.ts';

/**
 * Tells others of what is committed and stands: without Redis the reconcilers and a node's next
 * frame mend it, so that a failure is for the log alone.
 */
export async function passOn(
  { logger }: Pick<GatewayDeps, 'logger'>,
  fields: Readonly<Record<string, string>>,
  messages: readonly Promise<void>[],
): Promise<void> {
  for (const result of await Promise.allSettled(messages)) {
    if (result.status === 'rejected') {
      logger.warn({ ...fields, err: result.reason }, 'could not pass on what is committed');
    }
  }
}
