import { execFile } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';

interface Seen {
  readonly contacts: readonly string[];
  readonly refusals: readonly string[];
  readonly packets: number;
  readonly title: string;
}

const main = path.join(import.meta.dirname, 'egress/main.ts');
/**
 * A script that adds a network interface with an address of a home network, and then runs the given
 * command. No other machine is in this network.
 */
const inHomeNetwork = `
  ip link set lo up
  ip link add lan0 type veth peer name lan1
  ip link set lan0 addrgenmode none
  ip link set lan1 addrgenmode none
  ip address add 192.168.77.2/24 dev lan0
  ip link set lan1 up
  ip link set lan0 up
  exec "$@"`;

function isSeen(value: unknown): value is Seen {
  return typeof value === 'object' && value !== null && 'contacts' in value && 'refusals' in value;
}

function run(command: string, words: readonly string[]): Promise<Seen> {
  return new Promise((resolve, reject) => {
    execFile(command, words, (error, stdout, stderr) => {
      const seen: unknown = error === null ? JSON.parse(stdout) : undefined;
      if (isSeen(seen)) resolve(seen);
      else reject(new Error(`the trial failed: ${stderr}`, { cause: error }));
    });
  });
}

const highPort = ['--port', '18080', '--address', '127.0.0.1', '--address', '[::1]'];

test('a page reaches nothing on this machine, in whatever way it tries', async () => {
  const seen = await run(process.execPath, [main, ...highPort]);
  expect(seen.contacts).toEqual([]);
  expect(seen.title).toBe('site');
  expect(seen.refusals).toEqual([
    '127.0.0.1',
    '[::1]',
    'changing.example',
    'inward.example',
    'localhost',
  ]);
});

test('the same page reaches this machine from an ordinary browser', async () => {
  const seen = await run(process.execPath, [main, ...highPort, '--unguarded']);
  expect(seen.contacts).toEqual(expect.arrayContaining(['tcp 127.0.0.1:18080', 'udp :18080']));
});

const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
const whySkipped = isRoot ? '' : ' (skipped: only root on Linux can make a private network)';
const lan = [
  '--port=80',
  '--port=443',
  '--interface=lan0',
  '--address=127.0.0.1',
  '--address=192.168.77.2',
  '--address=192.168.77.9',
];

test.skipIf(!isRoot)(`a page sends nothing into the home network${whySkipped}`, async () => {
  const words = ['--net', 'sh', '-c', inHomeNetwork, 'sh', process.execPath, main, ...lan];
  const seen = await run('unshare', words);
  expect([seen.contacts, seen.packets]).toEqual([[], 0]);
  expect(seen.refusals).toEqual(expect.arrayContaining(['192.168.77.2', '192.168.77.9']));
  const unguarded = await run('unshare', [...words, '--unguarded']);
  expect(unguarded.contacts).toContain('tcp 192.168.77.2:80');
  expect(unguarded.packets).toBeGreaterThan(0);
});
