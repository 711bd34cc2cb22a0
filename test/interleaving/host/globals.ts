import { countedImmediate, hosts } from './host.ts';

/**
 * The globals of the product's modules in a simulation (see hooks.ts). Timers and clocks use
 * simulated time in a simulated process, and real time elsewhere.
 */

class SimulatedTimer {
  readonly #clear: () => void;

  constructor(clear: () => void) {
    this.#clear = clear;
  }

  clear(): void {
    this.#clear();
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

type Callback = (...args: unknown[]) => void;
type Timer = SimulatedTimer | NodeJS.Timeout;

function simulatedTimeout(run: Callback, delayMs = 0, ...args: unknown[]): Timer {
  const host = hosts.getStore();
  if (host === undefined) return setTimeout(run, delayMs, ...args);
  return new SimulatedTimer(host.after(delayMs, () => run(...args)));
}

function simulatedInterval(run: Callback, delayMs = 0, ...args: unknown[]): Timer {
  const host = hosts.getStore();
  if (host === undefined) return setInterval(run, delayMs, ...args);
  const interval: { clear?: () => void } = {};
  const begin = (): void => {
    interval.clear = host.after(delayMs, () => {
      begin();
      run(...args);
    });
  };
  begin();
  return new SimulatedTimer(() => interval.clear?.());
}

function simulatedClear(timer: Timer | undefined): void {
  if (timer instanceof SimulatedTimer) timer.clear();
  else clearTimeout(timer);
}

class SimulatedDate extends Date {
  constructor(...values: [] | [number | string | Date]) {
    if (values.length === 0) super(SimulatedDate.now());
    else super(values[0]);
  }

  static override now(): number {
    return hosts.getStore()?.nowMs() ?? Date.now();
  }
}

const simulatedPerformance = {
  now: (): number => hosts.getStore()?.monotonicMs() ?? performance.now(),
};

export {
  countedImmediate as setImmediate,
  simulatedClear as clearInterval,
  simulatedClear as clearTimeout,
  SimulatedDate as Date,
  simulatedInterval as setInterval,
  simulatedPerformance as performance,
  simulatedTimeout as setTimeout,
};
