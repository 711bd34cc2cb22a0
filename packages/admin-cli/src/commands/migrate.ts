import { migrate } from '@svc/store';
import type { Command } from 'commander';
import { describeCommand } from '../command.ts';
import { readConfiguration } from '../configuration.ts';
import { type OutputOptions, printRecord } from '../output.ts';
import { Refusal } from '../refusal.ts';

/** `svc migrate` (CONTRACT 9). */
export function addMigrateCommand(command: Command): void {
  describeCommand(command, {
    does: 'migrate the database to the schema of this build and grant the services their privileges',
    examples: ['svc migrate'],
  }).action(async (options: OutputOptions) => {
    const { SVC_ENVIRONMENT, DATABASE_URL, MIGRATION_DATABASE_URL } = readConfiguration(
      process.env,
    );
    if (MIGRATION_DATABASE_URL === undefined && SVC_ENVIRONMENT === 'production') {
      throw new Refusal(
        'In production only the owner of the tables may migrate. Set MIGRATION_DATABASE_URL to a database URL of that role; DATABASE_URL is for the role of the services.',
      );
    }
    const result = await migrate(MIGRATION_DATABASE_URL ?? DATABASE_URL, DATABASE_URL);
    if (result.kind === 'refused')
      throw new Refusal(`The database was not migrated: ${result.reason}.`);
    const next = 'run `svc master-key rotate` when every service runs this version';
    printRecord({ applied: result.applied, ...(result.isResealDue ? { next } : {}) }, options);
  });
}
