import type { Command } from 'commander';

export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  /**
   * Loads the commands of the group. `svc` starts fast, because it does not load groups that the
   * command line does not need.
   */
  readonly load: () => Promise<(command: Command) => void>;
  /** True if all other groups are loaded too, because this group reads their commands. */
  readonly needsAll?: boolean;
}

/** All groups of `svc`, in the order of its help. */
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
    summary: 'operators and their keys',
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
    summary: 'the timeline of a submission',
    load: async () => (await import('./commands/trace.ts')).addTraceCommand,
  },
  {
    name: 'rate-card',
    summary: 'prices and their versions',
    load: async () => (await import('./commands/rate-card.ts')).addRateCardCommands,
  },
  {
    name: 'surge',
    summary: 'the surge multiplier of prices',
    load: async () => (await import('./commands/surge.ts')).addSurgeCommands,
  },
  {
    name: 'queue',
    summary: 'the queues between the services',
    load: async () => (await import('./commands/queue.ts')).addQueueCommands,
  },
  {
    name: 'audit',
    summary: 'the log of changes by operators and tenants, and of reads of personal data',
    load: async () => (await import('./commands/audit.ts')).addAuditCommands,
  },
  {
    name: 'webhook',
    summary: 'webhook deliveries of all tenants',
    load: async () => (await import('./commands/webhook.ts')).addWebhookCommands,
  },
  {
    name: 'listen',
    summary: 'the events of a tenant, received on this machine',
    load: async () => (await import('./commands/listen.ts')).addListenCommand,
  },
  {
    name: 'trigger',
    summary: 'an event, caused in a sandbox by a submission, a change or a test',
    load: async () => (await import('./commands/listen.ts')).addTriggerCommand,
  },
  {
    name: 'purchase-intent',
    summary: 'purchase intents of all tenants: credits for USDC',
    load: async () => (await import('./commands/purchase-intent.ts')).addPurchaseIntentCommands,
  },
  {
    name: 'solana',
    summary: 'the watcher of Solana payments, and the unexplained payments',
    load: async () => (await import('./commands/solana.ts')).addSolanaCommands,
  },
  {
    name: 'ledger',
    summary: 'the ledger of credits',
    load: async () => (await import('./commands/ledger.ts')).addLedgerCommands,
  },
  {
    name: 'status',
    summary: 'the health of services, queues, fleet and ledger',
    load: async () => (await import('./commands/status.ts')).addStatusCommand,
  },
  {
    name: 'doctor',
    summary: 'the checks of the deployment',
    load: async () => (await import('./commands/doctor.ts')).addDoctorCommand,
  },
  {
    name: 'log-level',
    summary: 'the log levels of the services',
    load: async () => (await import('./commands/log-level.ts')).addLogLevelCommand,
  },
  {
    name: 'migrate',
    summary: 'the migration of the database schema',
    load: async () => (await import('./commands/migrate.ts')).addMigrateCommand,
  },
  {
    name: 'recovery',
    summary: 'the recovery after a restore from a backup',
    load: async () => (await import('./commands/recovery.ts')).addRecoveryCommands,
  },
  {
    name: 'master-key',
    summary: 'the key that seals secrets and personal data',
    load: async () => (await import('./commands/master-key.ts')).addMasterKeyCommands,
  },
  {
    name: 'completion',
    summary: 'shell completion',
    load: async () => (await import('./commands/completion.ts')).addCompletionCommand,
    needsAll: true,
  },
];
