import type { TcpProxy } from '../world/tcp-proxy.ts';
import type { World } from '../world/types.ts';
import { type FaultKind, lasting, seconds } from './fault.ts';

const delaysMs = [20, 100, 400] as const;

function wireOf({ wires }: World, name: string): TcpProxy {
  const wire = wires.get(name);
  if (wire === undefined) throw new Error(`there is no wire ${name}`);
  return wire;
}

const cut: FaultKind = {
  kind: 'connections cut',
  weight: 18,
  plan(random, { wires }) {
    const name = random.pick(wires);
    if (name === undefined) return undefined;
    return {
      kind: this.kind,
      name: `connections cut: ${name}`,
      lastsMs: 0,
      strike: (world) => wireOf(world, name).cut(),
      heal: () => {},
    };
  },
};

const sever: FaultKind = {
  kind: 'a wire refused',
  weight: 8,
  plan(random, { wires }, pace) {
    const name = random.pick(wires);
    if (name === undefined) return undefined;
    const lastsMs = lasting(random, pace);
    return {
      kind: this.kind,
      name: `connections refused: ${name}, for ${seconds(lastsMs)}`,
      lastsMs,
      strike: (world) => wireOf(world, name).sever(),
      heal: (world) => wireOf(world, name).heal(),
    };
  },
};

const stall: FaultKind = {
  kind: 'a wire on which nothing passes',
  weight: 6,
  plan(random, { wires }, pace) {
    const name = random.pick(wires);
    if (name === undefined) return undefined;
    const lastsMs = lasting(random, pace);
    return {
      kind: this.kind,
      name: `nothing passes: ${name}, for ${seconds(lastsMs)}`,
      lastsMs,
      strike: (world) => wireOf(world, name).stall(),
      heal: (world) => wireOf(world, name).heal(),
    };
  },
};

const delay: FaultKind = {
  kind: 'packets delayed',
  weight: 8,
  plan(random, { wires }, pace) {
    const name = random.pick(wires);
    const delayMs = random.pick(delaysMs);
    if (name === undefined || delayMs === undefined) return undefined;
    const lastsMs = lasting(random, pace);
    return {
      kind: this.kind,
      name: `packets ${delayMs} ms late: ${name}, for ${seconds(lastsMs)}`,
      lastsMs,
      strike: (world) => wireOf(world, name).delay(delayMs),
      heal: (world) => wireOf(world, name).heal(),
    };
  },
};

export const wireFaults: readonly FaultKind[] = [cut, sever, stall, delay];
