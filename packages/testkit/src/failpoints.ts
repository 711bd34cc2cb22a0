import { EventEmitter, once } from 'node:events';
import type { ServiceName } from '@svc/local';

/** A process that is stopped at a failpoint, and the function that lets it continue. */
interface Stopped {
  readonly index: number;
  readonly release: () => void;
}

/**
 * Controls the failpoints of a stack's processes (packages/runtime/src/failpoints.ts). The first
 * process of a service that reaches a failpoint stops there. Later ones of the same service
 * continue at once.
 */
export interface Failpoints {
  /** Handles a message from a process's IPC channel. */
  receive(
    service: ServiceName,
    index: number,
    message: unknown,
    release: (name: string) => void,
  ): void;
  /** Resolves with the index of the process at the failpoint. Throws after `timeoutMs`. */
  reached(service: ServiceName, name: string, timeoutMs: number): Promise<number>;
  /** Lets the process at the failpoint continue. */
  release(service: ServiceName, name: string): void;
  releaseAll(): void;
}

export function createFailpoints(): Failpoints {
  const stopped = new Map<string, Stopped>();
  const arrivals = new EventEmitter();
  arrivals.setMaxListeners(0);
  return {
    receive(service, index, message, release) {
      const name = failpointOf(message);
      if (name === undefined) return;
      const key = keyOf(service, name);
      if (stopped.has(key)) {
        release(name);
        return;
      }
      stopped.set(key, { index, release: () => release(name) });
      arrivals.emit(key);
    },
    async reached(service, name, timeoutMs) {
      const key = keyOf(service, name);
      if (!stopped.has(key)) await arrival(arrivals, key, timeoutMs);
      return stopped.get(key)?.index ?? 0;
    },
    release: (service, name) => stopped.get(keyOf(service, name))?.release(),
    releaseAll() {
      for (const { release } of stopped.values()) release();
    },
  };
}

function keyOf(service: ServiceName, name: string): string {
  return `${service}: ${name}`;
}

async function arrival(arrivals: EventEmitter, key: string, timeoutMs: number): Promise<void> {
  try {
    await once(arrivals, key, { signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    throw new Error(`no process reached ${key} within ${timeoutMs} ms`, { cause: error });
  }
}

function failpointOf(message: unknown): string | undefined {
  const isOne = typeof message === 'object' && message !== null && 'failpoint' in message;
  return isOne && typeof message.failpoint === 'string' ? message.failpoint : undefined;
}
