import { migrate } from '@svc/store';
import type { Command } from 'commander';
import { describeCommand } from '../command.ts';
import { readConfiguration } from '../configuration.ts';
import { type OutputOptions, printRecord } from '../output.ts';
import { Refusal } from '../refusal.ts';

/** `svc migrate` (CONTRACT.md section 9). */
export function addMigrateCommand(command: Command): void {
  describeCommand(command, {
    does: 'bring the database to the schema of this build',
    examples: ['svc migrate'],
  }).action(async (options: OutputOptions) => {
    const result = await migrate(readConfiguration(process.env).DATABASE_URL);
    if (result.kind === 'refused') throw new Refusal(`Not migrated: ${result.reason}.`);
    printRecord({ applied: result.applied }, options);
  });
}
