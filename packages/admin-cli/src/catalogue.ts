import type { Command } from 'commander';

/** One word after `svc`. */
export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  /** Loads what adds its commands: only of the word that is asked for, so that `svc` starts fast. */
  readonly load: () => Promise<(command: Command) => void>;
  /** Works on what all the others take, so that they are loaded too. */
  readonly needsAll?: boolean;
}

/** Every word that `svc` knows, in the order of its help (CONTRACT 9). */
export const catalogue: readonly CommandGroup[] = [
  {
    name: 'tenant',
    summary: 'tenants and their settings',
    load: async () => (await import('./commands/tenant.ts')).addTenantCommands,
  },
  {
    name: 'credits',
    summary: 'credits of a tenant',
    load: async () => (await import('./commands/credits.ts')).addCreditsCommands,
  },
  {
    name: 'operator',
    summary: 'keys of the staff',
    load: async () => (await import('./commands/operator.ts')).addOperatorCommands,
  },
  {
    name: 'node',
    summary: 'nodes that run jobs',
    load: async () => (await import('./commands/node.ts')).addNodeCommands,
  },
  {
    name: 'submission',
    summary: 'submissions of all tenants',
    load: async () => (await import('./commands/submission.ts')).addSubmissionCommands,
  },
  {
    name: 'trace',
    summary: 'the whole story of a submission',
    load: async () => (await import('./commands/trace.ts')).addTraceCommand,
  },
  {
    name: 'rate-card',
    summary: 'prices, by version',
    load: async () => (await import('./commands/rate-card.ts')).addRateCardCommands,
  },
  {
    name: 'surge',
    summary: 'the multiplier of prices',
    load: async () => (await import('./commands/surge.ts')).addSurgeCommands,
  },
  {
    name: 'queue',
    summary: 'the queues between the services',
    load: async () => (await import('./commands/queue.ts')).addQueueCommands,
  },
  {
    name: 'audit',
    summary: 'who changed what',
    load: async () => (await import('./commands/audit.ts')).addAuditCommands,
  },
  {
    name: 'webhook',
    summary: 'webhook deliveries of all tenants',
    load: async () => (await import('./commands/webhook.ts')).addWebhookCommands,
  },
  {
    name: 'ledger',
    summary: 'the ledger of credits',
    load: async () => (await import('./commands/ledger.ts')).addLedgerCommands,
  },
  {
    name: 'status',
    summary: 'what is under way',
    load: async () => (await import('./commands/status.ts')).addStatusCommand,
  },
  {
    name: 'migrate',
    summary: 'the schema of the database',
    load: async () => (await import('./commands/migrate.ts')).addMigrateCommand,
  },
  {
    name: 'master-key',
    summary: 'the key that seals secrets and personal data',
    load: async () => (await import('./commands/master-key.ts')).addMasterKeyCommands,
  },
  {
    name: 'completion',
    summary: 'words for the shell to complete',
    load: async () => (await import('./commands/completion.ts')).addCompletionCommand,
    needsAll: true,
  },
];
