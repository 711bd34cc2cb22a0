import type { Random } from '../../simulation/random.ts';
import type { TcpProxy } from '../world/tcp-proxy.ts';
import type { World } from '../world/types.ts';
import { type FaultKind, lastingKind, momentaryKind } from './fault.ts';

/**
 * Delays of packets, in milliseconds. With 160 ms each way, a node's accept arrives after 320 ms. A
 * second node gets an offer after 300 ms (CONTRACT 7), so both nodes may accept.
 */
const delaysMs = [20, 100, 160, 400, 1_000] as const;

export function proxyOf({ proxies }: World, name: string): TcpProxy {
  const proxy = proxies.get(name);
  if (proxy === undefined) throw new Error(`there is no TCP proxy ${name}`);
  return proxy;
}

const cut = momentaryKind('connections cut', 18, (random, { proxies }) => {
  const name = random.pick(proxies);
  if (name === undefined) return undefined;
  return { name: `connections cut: ${name}`, strike: (world) => proxyOf(world, name).cut() };
});

function onOneProxy(
  kind: string,
  weight: number,
  draw: (random: Random) => {
    readonly what: string;
    readonly atLeastMs?: number;
    readonly strike: (proxy: TcpProxy) => void;
  },
): FaultKind {
  return lastingKind(kind, weight, (random, { proxies }) => {
    const name = random.pick(proxies);
    if (name === undefined) return undefined;
    const { what, strike, ...lasts } = draw(random);
    return {
      name: `${what}: ${name},`,
      ...lasts,
      strike: (world) => strike(proxyOf(world, name)),
      heal: (world) => proxyOf(world, name).heal(),
    };
  });
}

const sever = onOneProxy('connections refused', 8, () => ({
  what: 'connections refused',
  strike: (proxy) => proxy.sever(),
}));

const stall = onOneProxy('connections on which nothing passes', 6, () => ({
  what: 'nothing passes',
  strike: (proxy) => proxy.stall(),
}));

const delay = onOneProxy('packets delayed', 8, (random) => {
  const delayMs = random.pick(delaysMs) ?? 0;
  return {
    what: `packets ${delayMs} ms late`,
    // The fault lasts long enough for one delayed request and its delayed answer.
    atLeastMs: 2 * delayMs,
    strike: (proxy) => proxy.delay(delayMs),
  };
});

export const proxyFaults: readonly FaultKind[] = [cut, sever, stall, delay];
