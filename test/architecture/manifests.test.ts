import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const checkoutDir = path.resolve(import.meta.dirname, '../..');

/** The rooms that a room may have in its `dependencies`. `allowedToServices` is for services. */
const allowed: Record<string, readonly string[]> = {
  'packages/domain': [],
  'packages/client': [],
  'packages/signing': ['domain'],
  'packages/contracts': ['domain'],
  'packages/store': ['domain'],
  'packages/queue': ['contracts', 'domain'],
  'packages/runtime': ['domain', 'contracts'],
  'packages/solana': ['domain', 'runtime'],
  'packages/tracing': ['domain'],
  'packages/startup': ['contracts', 'queue', 'runtime', 'signing', 'store', 'tracing'],
  'packages/node-agent': ['contracts', 'domain', 'signing'],
  'packages/admin-cli': ['client', 'contracts', 'domain', 'signing', 'store', 'queue', 'runtime'],
  'packages/testkit': ['client', 'contracts', 'domain', 'signing', 'local'],
  'infra/local': ['client', 'contracts', 'domain', 'signing'],
};
const allowedToServices = [
  'domain',
  'signing',
  'contracts',
  'store',
  'queue',
  'runtime',
  'startup',
  'solana',
  'tracing',
];

/** Libraries that connect to a database or to Redis, and the rooms that may depend on them. */
const guardedLibraries: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^(pg|prisma|@prisma\/.*)$/, ['packages/store', 'packages/testkit']],
  [/^(bullmq|ioredis)$/, ['packages/queue', 'packages/testkit']],
];

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly license?: string;
  readonly engines?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const rooms = globSync(
  ['packages/*/package.json', 'services/*/package.json', 'infra/*/package.json'],
  {
    cwd: checkoutDir,
  },
).map((file) => {
  const manifest: Manifest = JSON.parse(readFileSync(path.join(checkoutDir, file), 'utf8'));
  return { room: path.dirname(file), manifest };
});

function ours(dependencies: Manifest['dependencies'] = {}): string[] {
  return Object.keys(dependencies)
    .filter((name) => name.startsWith('@svc/'))
    .map((name) => name.slice('@svc/'.length));
}

it('every room is one that the rule knows', () => {
  const known = rooms.filter(({ room }) => room.startsWith('services/') || room in allowed);
  expect(known.map(({ room }) => room)).toStrictEqual(rooms.map(({ room }) => room));
  expect(rooms.length).toBeGreaterThanOrEqual(15);
});

it.each(rooms)(
  '$room depends on what it may import, and on nothing else of ours',
  ({ room, manifest }) => {
    const permitted = room.startsWith('services/') ? allowedToServices : (allowed[room] ?? []);
    expect(ours(manifest.dependencies).filter((name) => !permitted.includes(name))).toStrictEqual(
      [],
    );
  },
);

it.each(rooms)('$room has the testkit at most for its tests', ({ manifest }) => {
  expect(ours(manifest.dependencies)).not.toContain('testkit');
});

it.each(rooms)(
  '$room speaks to Postgres and Redis only where that is its purpose',
  ({ room, manifest }) => {
    const names = Object.keys(manifest.dependencies ?? {});
    const misplaced = names.filter((name) =>
      guardedLibraries.some(([library, places]) => library.test(name) && !places.includes(room)),
    );
    expect(misplaced).toStrictEqual([]);
  },
);

it.each(rooms)('$room pins every dependency to one version', ({ manifest }) => {
  const versions = Object.values({ ...manifest.dependencies, ...manifest.devDependencies });
  expect(
    versions.filter((version) => !/^(workspace:\*|\d+\.\d+\.\d+\S*)$/.test(version)),
  ).toStrictEqual([]);
});

it.each(rooms)(
  '$room is private, proprietary, and names the Node that it needs',
  ({ room, manifest }) => {
    const { private: isPrivate, license, engines } = manifest;
    expect({ isPrivate, license, engines }).toStrictEqual({
      isPrivate: true,
      license: 'UNLICENSED',
      // Tenants run the client as JavaScript, so it works on older versions of Node. The other
      // rooms run as TypeScript, which needs Node 22.18.
      engines: { node: room === 'packages/client' ? '>=20' : '>=22.18' },
    });
  },
);

/**
 * The rooms whose README must be short. The README of the client may be longer, because tenants
 * get this README with the package.
 */
const internal = rooms.map(({ room }) => room).filter((room) => room !== 'packages/client');

it.each([...internal, 'prisma'])('%s has a README of at most ten lines', (room) => {
  const text = readFileSync(path.join(checkoutDir, room, 'README.md'), 'utf8');
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(10);
});
