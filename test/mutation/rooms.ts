import type { Embedded } from './generators/templates.ts';

/** A part of the product that has one mutation score and one goal. */
export interface Room {
  readonly name: string;
  /** Globs of the files that are mutated, except those that `mutantsOf` leaves out. */
  readonly files: readonly string[];
  readonly embedded: Embedded;
  readonly near: readonly string[];
  /** Globs of the tests that run after those of `near` have passed. */
  readonly far: readonly string[];
  /** The percentage of non-equivalent mutants that the tests must kill. */
  readonly goal: number;
}

const commitsMoneyOrState = 95;
const elsewhere = 90;
const journeys = [
  'test/journeys/{lifecycle,at-most-once,crashes,fleet-runs,webhooks}.test.ts',
  'test/conformance/*.test.ts',
];

export const rooms: readonly Room[] = [
  {
    name: 'domain',
    files: ['packages/domain/src/**/*.ts'],
    embedded: 'none',
    near: ['packages/domain/src/**/*.test.ts'],
    far: ['packages/{contracts,store}/src/**/*.test.ts'],
    goal: commitsMoneyOrState,
  },
  {
    name: 'signing',
    files: ['packages/signing/src/**/*.ts'],
    embedded: 'none',
    near: ['packages/signing/src/**/*.test.ts'],
    far: ['packages/store/src/**/*.test.ts'],
    goal: commitsMoneyOrState,
  },
  {
    name: 'store',
    files: ['packages/store/src/**/*.ts', 'prisma/migrations/*/migration.sql'],
    embedded: 'sql',
    near: ['packages/store/src/**/*.test.ts', 'prisma/*.test.ts', 'test/solana/*.test.ts'],
    far: [
      'services/{settlement,dispatcher,webhooks,gateway}/src/**/*.test.ts',
      'packages/admin-cli/src/**/*.test.ts',
      ...journeys,
    ],
    goal: commitsMoneyOrState,
  },
  {
    name: 'queue',
    files: ['packages/queue/src/**/*.ts'],
    embedded: 'lua',
    near: ['packages/queue/src/**/*.test.ts'],
    far: ['services/dispatcher/src/**/*.test.ts', ...journeys],
    goal: elsewhere,
  },
  {
    name: 'dispatcher',
    files: ['services/dispatcher/src/**/*.ts'],
    embedded: 'none',
    near: ['services/dispatcher/src/**/*.test.ts'],
    far: journeys,
    goal: elsewhere,
  },
  {
    name: 'settlement',
    files: ['services/settlement/src/*.ts'],
    embedded: 'none',
    near: ['services/settlement/src/**/*.test.ts', 'test/solana/*.test.ts'],
    far: journeys,
    goal: commitsMoneyOrState,
  },
  {
    name: 'solana',
    files: ['packages/solana/src/**/*.ts', 'services/settlement/src/solana/**/*.ts'],
    embedded: 'none',
    near: ['test/solana/*.test.ts', 'services/settlement/src/**/*.test.ts'],
    far: journeys,
    goal: commitsMoneyOrState,
  },
  {
    name: 'gateway',
    files: ['services/gateway/src/**/*.ts'],
    embedded: 'none',
    near: ['services/gateway/src/**/*.test.ts'],
    far: journeys,
    goal: elsewhere,
  },
  {
    name: 'webhooks',
    files: ['services/webhooks/src/**/*.ts'],
    embedded: 'none',
    near: ['services/webhooks/src/**/*.test.ts'],
    far: journeys,
    goal: elsewhere,
  },
  {
    name: 'node-agent',
    files: ['packages/node-agent/src/**/*.ts'],
    embedded: 'none',
    near: ['packages/node-agent/src/**/*.test.ts'],
    far: journeys,
    goal: elsewhere,
  },
];
