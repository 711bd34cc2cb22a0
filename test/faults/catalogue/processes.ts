import type { ControlledProcess } from '../world/controlled-process.ts';
import type { World } from '../world/types.ts';
import { type FaultKind, lastingKind, seconds } from './fault.ts';

/** The longest time until a killed process is started again. The actual time is random. */
export const awayMsMax = 800;
/** Less than `replayWindowSeconds` (300 s), so signed requests stay valid. */
const clockOffMs = 4 * 60_000;

export function processOf({ services, nodes }: World, name: string): ControlledProcess {
  const found = [...services, ...nodes].find((one) => one.process.name === name);
  if (found === undefined) throw new Error(`there is no process ${name}`);
  return found.process;
}

const killService: FaultKind = {
  kind: 'kill -9 of a service',
  weight: 16,
  plan(random, targets) {
    const struck = random.pick(targets.services);
    return struck === undefined ? undefined : kill(this.kind, struck.name, random.nat(awayMsMax));
  },
};

const killNode: FaultKind = {
  kind: 'kill -9 of a node',
  weight: 5,
  plan(random, targets) {
    const struck = random.pick(targets.nodes);
    return struck === undefined ? undefined : kill(this.kind, struck, random.nat(awayMsMax));
  },
};

function kill(kind: string, name: string, lastsMs: number) {
  return {
    kind,
    name: `kill -9 ${name}, started again after ${seconds(lastsMs)}`,
    lastsMs,
    strike: (world: World) => processOf(world, name).kill(),
    heal: (world: World) => processOf(world, name).start(),
  };
}

const pause: FaultKind = {
  kind: 'SIGSTOP',
  weight: 6,
  plan(random, { services, nodes }, { pauseMs }) {
    const name = random.pick([...services.map((one) => one.name), ...nodes]);
    if (name === undefined) return undefined;
    return {
      kind: this.kind,
      name: `SIGSTOP ${name} for ${seconds(pauseMs)}`,
      lastsMs: pauseMs,
      strike: (world) => processOf(world, name).pause(),
      heal: (world) => processOf(world, name).resume(),
    };
  },
};

/** Sets a wrong clock in one service process, to find code that trusts this clock. */
const wrongClock = lastingKind('a wrong clock', 6, (random, { services }) => {
  const name = random.pick(services)?.name;
  if (name === undefined) return undefined;
  const offsetMs = random.chance(0.5) ? clockOffMs : -clockOffMs;
  return {
    name: `clock of ${name} ${offsetMs > 0 ? '4 min ahead' : '4 min behind'}`,
    strike: (world) => processOf(world, name).setClockOffset(offsetMs),
    heal: (world) => processOf(world, name).setClockOffset(0),
  };
});

export const processFaults: readonly FaultKind[] = [killService, killNode, pause, wrongClock];
