/// <reference lib="dom" />

/** What `watchTimers` leaves in a document. */
interface TimerWatch {
  readonly wait: (limitMs: number) => Promise<void>;
}

/**
 * Counts the timers that a document starts, for `awaitTimers`. Runs before the scripts of the page.
 * Refers to nothing outside of itself.
 */
// oxlint-disable-next-line eslint/max-lines-per-function -- the page gets this function alone.
export function watchTimers(): void {
  const key = Symbol.for('svc-node.timers');
  if (Reflect.has(window, key)) return;
  const delayMsMax = 2_500;
  const repeatsMax = 3;
  const open = new Map<unknown, string>();
  const repeats = new Map<string, number>();
  const loops = new Set<string>();
  let running: string | undefined;
  // oxlint-disable-next-line typescript/unbound-method -- called only with `window` or the page's own `this`.
  const { setTimeout: start, setInterval: repeat, clearTimeout: stop, clearInterval: end } = window;
  // oxlint-disable-next-line unicorn/consistent-function-scoping -- the page gets this function alone.
  const textOf = (callback: unknown): string => String(callback).slice(0, 200);
  /** A timer of a loop does not count: its callback starts itself again, or runs too often. */
  const counted = (text: string): boolean => {
    if (text === running || loops.has(text)) return false;
    const times = (repeats.get(text) ?? 0) + 1;
    repeats.set(text, times);
    if (times > repeatsMax && !text.includes('[native code]')) loops.add(text);
    return times <= repeatsMax;
  };
  const wrapped = (callback: unknown, text: string, ended: () => void) =>
    function run(this: unknown, ...args: unknown[]): void {
      const outer = running;
      running = text;
      try {
        if (typeof callback === 'function') Reflect.apply(callback, this, args);
      } finally {
        running = outer;
        ended();
      }
    };
  window.setTimeout = new Proxy(start, {
    apply(target, self, [callback, delay, ...args]: unknown[]) {
      if (typeof callback !== 'function') {
        return Reflect.apply(target, self, [callback, delay, ...args]);
      }
      const text = textOf(callback);
      let id: unknown;
      const run = wrapped(callback, text, () => open.delete(id));
      id = Reflect.apply(target, self, [run, delay, ...args]);
      if (!(Number(delay) > delayMsMax) && counted(text)) open.set(id, text);
      return id;
    },
  });
  window.setInterval = new Proxy(repeat, {
    apply(target, self, [callback, ...args]: unknown[]) {
      if (typeof callback !== 'function') return Reflect.apply(target, self, [callback, ...args]);
      return Reflect.apply(target, self, [wrapped(callback, textOf(callback), () => {}), ...args]);
    },
  });
  const forget = (id: unknown): void => {
    const text = open.get(id);
    if (text === undefined) return;
    open.delete(id);
    // A timer that the page moves, such as a delay until the end of typing, is no loop.
    repeats.set(text, Math.max((repeats.get(text) ?? 1) - 1, 0));
  };
  const forgetting = {
    apply(target: typeof clearTimeout, self: unknown, [id]: unknown[]): unknown {
      forget(id);
      return Reflect.apply(target, self, [id]);
    },
  };
  window.clearTimeout = new Proxy(stop, forgetting);
  window.clearInterval = new Proxy(end, forgetting);
  const sleep = (waitMs: number): Promise<void> =>
    new Promise((resolve) => {
      Reflect.apply(start, window, [resolve, waitMs]);
    });
  const wait = async (limitMs: number): Promise<void> => {
    const untilMs = performance.now() + limitMs;
    // Two turns of the event loop: handlers of the change may go on in another task.
    for (let calm = 0; calm < 2 && performance.now() < untilMs;) {
      await sleep(open.size === 0 ? 0 : 5);
      calm = open.size === 0 ? calm + 1 : 0;
    }
    open.clear();
    repeats.clear();
  };
  Object.defineProperty(window, key, { value: { wait } satisfies TimerWatch });
}

/**
 * Waits until the timers that the document started since the last call have run, at most `limitMs`.
 * Returns false if the document has no watch. Refers to nothing outside of itself.
 */
export async function awaitTimers(limitMs: number): Promise<boolean> {
  const watch: TimerWatch | undefined = Reflect.get(window, Symbol.for('svc-node.timers'));
  if (typeof watch?.wait !== 'function') return false;
  await watch.wait(limitMs);
  return true;
}
