import { execFile } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';

interface Seen {
  readonly contacts: readonly string[];
  readonly refusals: readonly string[];
  readonly packets: number;
  readonly neighbourContacts: readonly string[];
  readonly posts: readonly string[];
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

/**
 * A home with global addresses: those of the node, and a second host that has addresses in the
 * node's networks, in another /64 of its /56, and outside of them.
 */
const inGlobalHome = `
  ip link set lo up
  ip link add lan0 type veth peer name lan1
  ip link set lan0 addrgenmode none
  ip address add 45.83.1.2/24 dev lan0
  ip address add 2a0e:1:2:300::2/64 dev lan0 nodad
  ip link set lan0 up
  ip route add default dev lan0
  ip -6 route add default dev lan0
  exec "$@"`;
const neighbourAddresses = [
  '45.83.1.9',
  '45.83.2.9',
  '198.41.0.4',
  '2a0e:1:2:300::9',
  '2a0e:1:2:3ff::9',
  '2a0e:1:2:400::9',
  '2a10:5:6:7700::9',
];
/** Addresses in the networks of the node's interfaces, in several notations. */
const own = [
  '45.83.1.2',
  '45.83.1.9',
  '[2a0e:1:2:300::2]',
  '[2a0e:1:2:300::9]',
  '[2a0e:1:2:3ff::9]',
  '[::ffff:2d53:102]',
  '[64:ff9b::2d53:102]',
  '[2002:2d53:102::1]',
];
const observed = ['198.41.0.4', '[2a10:5:6:7700::9]'];
const elsewhere = ['45.83.2.9', '[2a0e:1:2:400::9]'];
const globalHome = [
  '--port=80',
  '--port=443',
  '--neighbour=lan1',
  '--observed=198.41.0.4',
  '--observed=2a10:5:6:7711::1',
  ...neighbourAddresses.map((address) => `--neighbourAddress=${address}`),
  ...[...own, ...observed, ...elsewhere].map((address) => `--address=${address}`),
];

test.skipIf(!isRoot)(`a page reaches no global address of the home${whySkipped}`, async () => {
  const words = ['--net', 'sh', '-c', inGlobalHome, 'sh', process.execPath, main, ...globalHome];
  const seen = await run('unshare', words);
  expect(seen.contacts).toEqual([]);
  expect(seen.neighbourContacts).toEqual([
    'tcp 2a0e:1:2:400::9:443',
    'tcp 2a0e:1:2:400::9:80',
    'tcp 45.83.2.9:443',
    'tcp 45.83.2.9:80',
  ]);
  const names = ['inward.example', 'localhost', 'two.example'];
  expect(seen.refusals).toEqual([...own, ...observed, ...names].toSorted());
  // The client of the deliverer refuses the networks of the interfaces, too.
  const posts = [
    ...own.map((address) => `${address} refused`),
    ...[...observed, ...elsewhere].map((address) => `${address} failed`),
  ];
  expect(seen.posts).toEqual(posts.toSorted());
  const unguarded = await run('unshare', [...words, '--unguarded']);
  const reached = neighbourAddresses.map((address) => `tcp ${address}:80`);
  expect(unguarded.neighbourContacts).toEqual(expect.arrayContaining(reached));
});
