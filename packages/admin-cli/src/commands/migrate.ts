import { migrate } from '@svc/store';
import type { Command } from 'commander';
import { describeCommand } from '../command.ts';
import { readConfiguration } from '../configuration.ts';
import { type OutputOptions, printRecord } from '../output.ts';
import { Refusal } from '../refusal.ts';

/** `svc migrate` (CONTRACT 9). */
export function addMigrateCommand(command: Command): void {
  describeCommand(command, {
    does: 'bring the database to the schema of this build, and give the services their privileges',
    examples: ['svc migrate'],
  }).action(async (options: OutputOptions) => {
    const { SVC_ENVIRONMENT, DATABASE_URL, MIGRATION_DATABASE_URL } = readConfiguration(
      process.env,
    );
    if (MIGRATION_DATABASE_URL === undefined && SVC_ENVIRONMENT === 'production') {
      throw new Refusal(
        'In production the owner of the tables migrates: set MIGRATION_DATABASE_URL to its address. DATABASE_URL names the role of the services.',
      );
    }
    const result = await migrate(MIGRATION_DATABASE_URL ?? DATABASE_URL, DATABASE_URL);
    if (result.kind === 'refused') throw new Refusal(`Not migrated: ${result.reason}.`);
    const next = 'svc master-key rotate, once every service is of this version';
    printRecord({ applied: result.applied, ...(result.isResealDue ? { next } : {}) }, options);
  });
}
