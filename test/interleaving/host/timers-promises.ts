import { setTimeout as realSleep } from 'node:timers/promises';
import { countedImmediate, hosts } from './host.ts';

/** Replaces `node:timers/promises` for the product's modules in a simulation (see hooks.ts). */

async function sleep<T>(
  delayMs: number,
  value?: T,
  options?: { readonly signal?: AbortSignal },
): Promise<T | undefined> {
  const host = hosts.getStore();
  if (host === undefined) return realSleep(delayMs, value, options);
  const signal = options?.signal;
  return await new Promise((resolve, reject) => {
    const stop = (): void => {
      clear();
      reject(new Error('stopped'));
    };
    const clear = host.after(delayMs, () => {
      signal?.removeEventListener('abort', stop);
      resolve(value);
    });
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

async function nextTurn(): Promise<void> {
  await new Promise<void>((resolve) => void countedImmediate(resolve));
}

export { nextTurn as setImmediate, sleep as setTimeout };
