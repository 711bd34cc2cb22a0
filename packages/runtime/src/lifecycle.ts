import type { Logger } from 'pino';

export interface Closable {
  close(): void | Promise<void>;
}

export interface Lifecycle {
  add(name: string, close: () => void | Promise<void>): void;
  own<T extends Closable>(name: string, resource: T): T;
  /**
   * Closes the resources in reverse order of opening, and logs errors. Resolves within `timeoutMs`
   * (default: 10 s). Further calls return the same promise.
   */
  close(timeoutMs?: number): Promise<void>;
}

const closeTimeoutMsDefault = 10_000;

export function createLifecycle(logger: Logger): Lifecycle {
  const opened: { name: string; close: () => void | Promise<void> }[] = [];
  let closing: Promise<void> | undefined;

  async function closeAll(): Promise<void> {
    for (let entry = opened.pop(); entry !== undefined; entry = opened.pop()) {
      try {
        await entry.close();
      } catch (error) {
        logger.error({ err: error, resource: entry.name }, 'could not close a resource');
      }
    }
  }

  async function closeWithin(timeoutMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<'timeout'>((resolve) => {
      timer = setTimeout(resolve, timeoutMs, 'timeout');
    });
    const outcome = await Promise.race([closeAll(), timeout]);
    clearTimeout(timer);
    if (outcome === 'timeout') logger.warn({ timeoutMs }, 'could not close all resources in time');
  }

  return {
    add(name, close) {
      opened.push({ name, close });
    },
    own(name, resource) {
      opened.push({ name, close: () => resource.close() });
      return resource;
    },
    close(timeoutMs = closeTimeoutMsDefault) {
      closing ??= closeWithin(timeoutMs);
      return closing;
    },
  };
}

/**
 * Runs `open`, and adds a method `close` to its result. The method closes all resources that `open`
 * registered. If `open` throws, closes these resources and throws the same error.
 */
export async function openResources<T extends object>(
  logger: Logger,
  open: (lifecycle: Lifecycle) => Promise<T>,
): Promise<T & { close(): Promise<void> }> {
  const lifecycle = createLifecycle(logger);
  try {
    return { ...(await open(lifecycle)), close: () => lifecycle.close() };
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}
