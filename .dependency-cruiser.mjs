/**
 * Who may import whom (docs/ARCHITECTURE.md). Test files may also import the testkit; a package's
 * manifest says the same a second time (test/architecture/manifests.test.ts).
 *
 * @type {import('dependency-cruiser').IConfiguration}
 */

const own = '^(packages|services|infra)/';
const testFile = '[.](test|fixture)[.]ts$';
/** Code that only tests run. */
const testCode = ['^packages/testkit/', '^test/', testFile];

/** A room may import these of ours and itself, and nothing else of ours. */
function room(name, path, allowed) {
  const targets = [path, ...allowed.map((other) => `^packages/${other}/`)];
  return {
    name: `${name}-imports-only-its-own`,
    severity: 'error',
    from: { path, pathNot: testFile },
    to: { path: own, pathNot: targets },
  };
}

/** Only code in these places may import the libraries. */
function onlyIn(name, libraries, places) {
  return {
    name,
    severity: 'error',
    from: { pathNot: places },
    to: { path: libraries.map((library) => `node_modules/${library}/`) },
  };
}

export default {
  forbidden: [
    room('domain', '^packages/domain/', []),
    room('client', '^packages/client/', []),
    room('signing', '^packages/signing/', ['domain']),
    room('contracts', '^packages/contracts/', ['domain']),
    room('store', '^packages/store/', ['domain']),
    room('queue', '^packages/queue/', ['contracts', 'domain']),
    room('runtime', '^packages/runtime/', ['domain', 'contracts']),
    room('solana', '^packages/solana/', ['domain', 'runtime']),
    room('tracing', '^packages/tracing/', ['domain']),
    room('startup', '^packages/startup/', [
      'contracts',
      'queue',
      'runtime',
      'signing',
      'store',
      'tracing',
    ]),
    room('node-agent', '^packages/node-agent/', ['contracts', 'domain', 'signing']),
    room('admin-cli', '^packages/admin-cli/', [
      'client',
      'contracts',
      'domain',
      'queue',
      'runtime',
      'signing',
      'store',
    ]),
    room('local', '^infra/local/', ['client', 'contracts', 'domain', 'signing']),
    {
      name: 'testkit-imports-only-its-own',
      severity: 'error',
      from: { path: '^packages/testkit/', pathNot: testFile },
      to: {
        path: own,
        pathNot: '^(packages/(testkit|client|contracts|domain|signing)|infra/local)/',
      },
    },
    {
      name: 'services-do-not-import-each-other',
      severity: 'error',
      from: { path: '^services/([^/]+)/' },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'services-import-packages-only',
      severity: 'error',
      from: { path: '^services/', pathNot: testFile },
      to: { path: '^(infra/|packages/(testkit|client|admin-cli|node-agent)/)' },
    },
    {
      name: 'packages-do-not-import-services',
      severity: 'error',
      from: { path: '^(packages|infra)/' },
      to: { path: '^services/' },
    },
    {
      name: 'only-tests-import-the-testkit',
      severity: 'error',
      from: { pathNot: testCode },
      to: { path: '^packages/testkit/' },
    },
    {
      name: 'only-tests-import-fixtures',
      comment: 'a helper of tests is named *.fixture.ts, in a package or a service',
      severity: 'error',
      from: { pathNot: testCode },
      to: { path: ['[.]fixture[.]ts$', '^test/'] },
    },
    onlyIn('only-tests-import-vitest', ['vitest'], [...testCode, '^vitest[.]config']),
    {
      name: 'domain-and-client-are-pure',
      comment: 'domain has no I/O, clock or randomness; the client needs fetch and crypto only',
      severity: 'error',
      from: {
        path: '^packages/(domain|client)/',
        pathNot: [...[testFile].flat(), '^packages/client/src/cli/'],
      },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?crypto$' },
    },
    {
      name: 'the-client-does-not-import-its-commands',
      comment: 'the library runs without Node; its commands do not',
      severity: 'error',
      from: { path: '^packages/client/src/[^/]+$' },
      to: { path: '^packages/client/src/cli/' },
    },
    {
      name: 'signing-needs-crypto-only',
      severity: 'error',
      from: { path: '^packages/signing/', pathNot: testFile },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?crypto$' },
    },
    {
      name: 'the-generated-client-stays-in-the-store',
      severity: 'error',
      from: { pathNot: '^packages/store/' },
      to: { path: '^packages/store/src/generated/' },
    },
    onlyIn(
      'sql-only-in-the-store',
      ['pg', '@prisma/[^/]+', 'prisma'],
      ['^packages/(store|testkit)/', '^infra/local/', '^prisma/', '^test/'],
    ),
    onlyIn(
      'redis-only-in-the-queue',
      ['bullmq', 'ioredis'],
      ['^packages/(queue|testkit)/', '^test/'],
    ),
    onlyIn(
      'solana-only-in-its-room',
      ['@solana/[^/]+', '@solana-program/[^/]+', 'litesvm[^/]*'],
      ['^packages/solana/', '^test/solana/'],
    ),
    onlyIn('opentelemetry-only-in-its-room', ['@opentelemetry/[^/]+'], ['^packages/tracing/']),
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'nothing-unlisted',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    { name: 'nothing-missing', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'by-the-front-door',
      comment: 'another package is imported by its name, never by a path into it',
      severity: 'error',
      from: { path: '^(packages|services|infra)/([^/]+)/' },
      to: { path: own, pathNot: '^$1/$2/', dependencyTypes: ['local'] },
    },
  ],
  options: {
    // What Prisma generates is its own business; that others import it is ours.
    // The tests of the packed client leave it there.
    exclude: { path: '^packages/client/dist/' },
    doNotFollow: { path: ['node_modules', '/generated/'] },
    // Types alone are no excuse: an `import type` is an import.
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['types', 'import', 'node', 'default'],
    },
  },
};
