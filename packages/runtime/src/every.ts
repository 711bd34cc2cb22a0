import type { Logger } from 'pino';

export interface Repeating {
  /** Starts no further round and waits for the one that is running. */
  close(): Promise<void>;
}

/**
 * Runs `run` again and again, the next round `intervalMs` after the end of the last one, so that
 * rounds never overlap. A round that fails is logged, and the next one comes all the same.
 */
export function every({
  name,
  intervalMs,
  run,
  logger,
}: {
  readonly name: string;
  readonly intervalMs: number;
  readonly run: () => Promise<void>;
  readonly logger: Logger;
}): Repeating {
  let closed = false;
  let current: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout;

  async function round(): Promise<void> {
    try {
      await run();
    } catch (error) {
      logger.error({ err: error, name }, 'a round failed');
    }
    schedule();
  }

  function schedule(): void {
    if (closed) return;
    timer = setTimeout(() => {
      current = round();
    }, intervalMs);
  }

  schedule();
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await current;
    },
  };
}
