import type { Random } from '../../simulation/random.ts';
import type { TcpProxy } from '../world/tcp-proxy.ts';
import type { World } from '../world/types.ts';
import { type FaultKind, lastingKind, momentaryKind } from './fault.ts';

/**
 * Delays of packets, in milliseconds. The delay of 160 ms in each direction makes a race: a node's
 * accept arrives after 320 ms, but a second node gets an offer after 300 ms (CONTRACT 7).
 */
const delaysMs = [20, 100, 160, 400, 1_000] as const;

export function wireOf({ wires }: World, name: string): TcpProxy {
  const wire = wires.get(name);
  if (wire === undefined) throw new Error(`there is no TCP proxy ${name}`);
  return wire;
}

const cut = momentaryKind('connections cut', 18, (random, { wires }) => {
  const name = random.pick(wires);
  if (name === undefined) return undefined;
  return { name: `connections cut: ${name}`, strike: (world) => wireOf(world, name).cut() };
});

function onOneWire(
  kind: string,
  weight: number,
  draw: (random: Random) => {
    readonly what: string;
    readonly atLeastMs?: number;
    readonly strike: (wire: TcpProxy) => void;
  },
): FaultKind {
  return lastingKind(kind, weight, (random, { wires }) => {
    const name = random.pick(wires);
    if (name === undefined) return undefined;
    const { what, strike, ...lasts } = draw(random);
    return {
      name: `${what}: ${name},`,
      ...lasts,
      strike: (world) => strike(wireOf(world, name)),
      heal: (world) => wireOf(world, name).heal(),
    };
  });
}

const sever = onOneWire('connections refused', 8, () => ({
  what: 'connections refused',
  strike: (wire) => wire.sever(),
}));

const stall = onOneWire('connections on which nothing passes', 6, () => ({
  what: 'nothing passes',
  strike: (wire) => wire.stall(),
}));

const delay = onOneWire('packets delayed', 8, (random) => {
  const delayMs = random.pick(delaysMs) ?? 0;
  return {
    what: `packets ${delayMs} ms late`,
    // The fault lasts long enough for one delayed request and its delayed answer.
    atLeastMs: 2 * delayMs,
    strike: (wire) => wire.delay(delayMs),
  };
});

export const wireFaults: readonly FaultKind[] = [cut, sever, stall, delay];
