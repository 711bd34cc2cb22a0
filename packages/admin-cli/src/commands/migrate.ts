import { migrate } from '@svc/store';
import type { Command } from 'commander';
import { readConfiguration } from '../configuration.ts';
import { type OutputOptions, printRecord } from '../output.ts';
import { Refusal } from '../refusal.ts';

/** `svc migrate` (CONTRACT.md section 9). */
export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description('bring the database to the schema of this build')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions) => {
      const result = await migrate(readConfiguration(process.env).DATABASE_URL);
      if (result.kind === 'refused') throw new Refusal(`Not migrated: ${result.reason}.`);
      printRecord({ applied: result.applied }, options);
    });
}
