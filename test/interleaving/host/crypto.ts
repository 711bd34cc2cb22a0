import { randomUUID as realUuid, type UUID } from 'node:crypto';
import { hosts } from './host.ts';

/**
 * `node:crypto` for the product's modules in a simulation. Only `randomUUID` is replaced: in a
 * simulated process it draws from the seed.
 */
export * from 'node:crypto';

const digits = 32;

export function randomUUID(): UUID {
  const host = hosts.getStore();
  if (host === undefined) return realUuid();
  const hex = Array.from({ length: digits }, () => host.nat(16).toString(16)).join('');
  const variant = (8 + host.nat(4)).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
}
