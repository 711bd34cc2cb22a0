import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

export interface Neighbour {
  /** The contacts that the second host has recorded, as `Listeners.contacts`. */
  contacts(): Promise<readonly string[]>;
  /** Ends the second host. Its namespace and its interface end with it. */
  close(): void;
}

const host = path.join(import.meta.dirname, 'neighbour-host.ts');

/**
 * Starts a second host in another network namespace, and moves `device` into it. The namespace has
 * no name, so it ends with its process, also if this process is killed.
 */
export async function startNeighbour(
  device: string,
  addresses: readonly string[],
  ports: readonly number[],
): Promise<Neighbour> {
  const words = ['--net', process.execPath, host, ...ports.map(String)];
  const child = spawn('unshare', words, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  await once(child, 'message');
  const pid = String(child.pid);
  execFileSync('ip', ['link', 'set', device, 'netns', pid]);
  const inside = (...args: string[]): void =>
    void execFileSync('nsenter', ['--target', pid, '--net', 'ip', ...args]);
  inside('link', 'set', device, 'up', 'addrgenmode', 'none');
  for (const address of addresses) {
    inside('address', 'add', address, 'dev', device, ...noDad(address));
  }
  for (const family of ['-4', '-6']) inside(family, 'route', 'add', 'default', 'dev', device);
  return {
    async contacts() {
      child.send('contacts');
      const [contacts]: unknown[] = await once(child, 'message');
      return Array.isArray(contacts) ? contacts.map(String) : [];
    },
    close: () => child.disconnect(),
  };
}

/** Without the search for duplicates, an IPv6 address can be used at once. */
function noDad(address: string): string[] {
  return address.includes(':') ? ['nodad'] : [];
}
