import type { Logger } from 'pino';

export interface Lifecycle {
  /** Registers how to close a resource that was just opened. */
  add(name: string, close: () => void | Promise<void>): void;
  /** Closes all resources in reverse order of opening. Returns after `timeoutMs` at the latest. */
  close(timeoutMs?: number): Promise<void>;
}

const closeTimeoutMsDefault = 10_000;

/** Closes resources in the reverse order of opening (docs/STYLE.md 6). */
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
    close(timeoutMs = closeTimeoutMsDefault) {
      closing ??= closeWithin(timeoutMs);
      return closing;
    },
  };
}
