import { EventEmitter, once } from 'node:events';
import type { ServiceName } from '@svc/local';

const armedBoundMs = 10_000;

export interface StoppableProcess {
  readonly service: ServiceName | 'node';
  readonly index: number;
  readonly current: { send(message: object): void };
}

/**
 * Controls failpoints (packages/runtime/src/failpoints.ts). The first process of a service that
 * reaches an armed failpoint stops there. Processes that reach it later continue.
 */
export interface Failpoints {
  receive(slot: StoppableProcess, message: unknown): void;
  /** Resolves when the failpoint is armed in each of the processes. Throws after `armedBoundMs`. */
  arm(slots: readonly StoppableProcess[], name: string): Promise<void>;
  /** Resolves with the index of the process at the failpoint. Throws after `timeoutMs`. */
  reached(service: ServiceName, name: string, timeoutMs: number): Promise<number>;
  /** Lets the process at the failpoint continue. Does nothing if no process has stopped there. */
  release(service: ServiceName, name: string): void;
  releaseAll(): void;
}

export function createFailpoints(): Failpoints {
  /**
   * For each failpoint of a service: the first process that has stopped there since the last `arm`.
   * The process may already have continued.
   */
  const stopped = new Map<string, { readonly slot: StoppableProcess; readonly name: string }>();
  const events = new EventEmitter();
  events.setMaxListeners(0);
  return {
    receive(slot, message) {
      const armed = nameIn(message, 'armed');
      if (armed !== undefined) events.emit(armedEvent(slot, armed));
      const name = nameIn(message, 'failpoint');
      if (name === undefined) return;
      const key = keyOf(slot.service, name);
      if (stopped.has(key)) {
        release({ slot, name });
        return;
      }
      stopped.set(key, { slot, name });
      events.emit(key);
    },
    async arm(slots, name) {
      const arming = slots.map(async (slot) => {
        stopped.delete(keyOf(slot.service, name));
        const failure = `${slot.service} ${slot.index} did not arm the failpoint ${name}`;
        const armed = arrival(events, armedEvent(slot, name), armedBoundMs, failure);
        slot.current.send({ arm: name });
        await armed;
      });
      await Promise.all(arming);
    },
    async reached(service, name, timeoutMs) {
      const key = keyOf(service, name);
      const failure = `no process reached the failpoint ${key}`;
      if (!stopped.has(key)) await arrival(events, key, timeoutMs, failure);
      return stopped.get(key)?.slot.index ?? 0;
    },
    release(service, name) {
      const one = stopped.get(keyOf(service, name));
      if (one !== undefined) release(one);
    },
    releaseAll() {
      for (const one of stopped.values()) release(one);
    },
  };
}

function release({ slot, name }: { readonly slot: StoppableProcess; readonly name: string }): void {
  slot.current.send({ release: name });
}

function keyOf(service: StoppableProcess['service'], name: string): string {
  return `${service}: ${name}`;
}

function armedEvent({ service, index }: StoppableProcess, name: string): string {
  return `${service} ${index} armed: ${name}`;
}

async function arrival(
  events: EventEmitter,
  key: string,
  timeoutMs: number,
  failure: string,
): Promise<void> {
  try {
    await once(events, key, { signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    throw new Error(`${failure} within ${timeoutMs} ms`, { cause: error });
  }
}

function nameIn(message: unknown, key: 'armed' | 'failpoint'): string | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  const name: unknown = Reflect.get(message, key);
  return typeof name === 'string' ? name : undefined;
}
