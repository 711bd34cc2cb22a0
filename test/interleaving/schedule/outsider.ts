import type { SimulatedProcess } from './process.ts';
import type { Scheduler } from './scheduler.ts';

/**
 * Wraps a system outside the process, such as Redis. The scheduler decides when each call is made
 * and answered. All methods of the system must be asynchronous.
 */
export function gatedOutsider<T extends object>(
  real: T,
  {
    scheduler,
    process,
    name,
    failure,
  }: {
    readonly scheduler: Scheduler;
    readonly process: SimulatedProcess;
    readonly name: string;
    /**
     * Creates the error that a call throws if the scheduler lets the call fail. If undefined, the
     * scheduler lets all calls succeed.
     */
    readonly failure?: () => Error;
  },
): T {
  const canFail = failure !== undefined;
  async function ask(method: string, call: () => Promise<unknown>): Promise<unknown> {
    const sent = await scheduler.hold(process, `asks ${name}.${method}`, { canFail });
    if (sent === 'fail' && failure !== undefined) throw failure();
    const ticket = scheduler.ticket(`hears ${name}.${method}`);
    const [answer] = await Promise.allSettled([
      scheduler.quiet.during({ isStatement: false }, call),
    ]);
    await process.alive(undefined);
    const heard = await scheduler.hold(process, `hears ${name}.${method}`, { canFail, ticket });
    if (heard === 'fail' && failure !== undefined) throw failure();
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value;
  }
  return new Proxy(real, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) =>
        ask(String(key), async () => await Reflect.apply(value, target, args));
    },
  });
}
