import { ConfigError } from '@svc/runtime';
import { migrate, planMigrations, wrongUrl } from '@svc/store';
import type { Command } from 'commander';
import { describeCommand } from '../command.ts';
import { readConfiguration } from '../configuration.ts';
import { type OutputOptions, print, printJson, printList, printRecord } from '../output.ts';
import { Refusal } from '../refusal.ts';

interface MigrateOptions extends OutputOptions {
  readonly plan?: boolean;
  readonly raiseFloor?: boolean;
}

/** `svc migrate` (CONTRACT 9). */
export function addMigrateCommand(command: Command): void {
  describeCommand(command, {
    does: 'migrate the database to the schema of this build and grant the services their privileges',
    examples: ['svc migrate --plan', 'svc migrate', 'svc migrate --raise-floor'],
  })
    .option('--plan', 'show the missing migrations and what they block; change nothing')
    .option('--raise-floor', 'also apply migrations after which earlier builds do not work')
    .action(async (options: MigrateOptions) => {
      const { SVC_ENVIRONMENT, DATABASE_URL, MIGRATION_DATABASE_URL } = readConfiguration(
        process.env,
      );
      if (MIGRATION_DATABASE_URL === undefined && SVC_ENVIRONMENT === 'production') {
        throw new Refusal(
          'In production, `svc migrate` needs the owner of the tables. Set MIGRATION_DATABASE_URL to a URL of this owner. DATABASE_URL is for the role of the services.',
        );
      }
      const ownerUrl = MIGRATION_DATABASE_URL ?? DATABASE_URL;
      try {
        if (options.plan === true) await showPlan(ownerUrl, options);
        else await applyAll(ownerUrl, DATABASE_URL, options);
      } catch (error) {
        const name =
          MIGRATION_DATABASE_URL === undefined ? 'DATABASE_URL' : 'MIGRATION_DATABASE_URL';
        const wrong = wrongUrl(error, name);
        throw wrong === undefined ? error : new ConfigError(wrong, { cause: error });
      }
    });
}

const planColumns = ['name', 'blocks', 'inTransaction', 'raisesFloorTo', 'why'];

async function showPlan(ownerUrl: string, options: MigrateOptions): Promise<void> {
  const plan = await planMigrations(ownerUrl);
  if (plan.kind === 'server_too_old') throw new Refusal(plan.reason);
  if (plan.kind === 'refused')
    throw new Refusal(`This build does not work with the schema: ${plan.reason}.`);
  const { pending, newer } = plan;
  if (options.json === true) return printJson({ pending, newer });
  if (pending.length === 0) print('no migration is missing');
  else
    printList(
      pending.map((one) => ({ ...one })),
      planColumns,
      options,
    );
  if (newer.length > 0) print(`a later build applied these migrations: ${newer.join(', ')}`);
}

async function applyAll(
  ownerUrl: string,
  serviceUrl: string,
  options: MigrateOptions,
): Promise<void> {
  const raisesFloor = options.raiseFloor === true;
  const result = await migrate(ownerUrl, serviceUrl, { raisesFloor });
  if (result.kind === 'server_too_old') throw new Refusal(result.reason);
  if (result.kind === 'refused')
    throw new Refusal(`The migration is not complete: ${result.reason}.`);
  const { applied, waiting, newer, isResealDue } = result;
  const next = isResealDue
    ? 'run `svc master-key rotate` when every service runs this version'
    : 'run `svc migrate --raise-floor` when every service runs this version';
  printRecord(
    {
      applied,
      ...(waiting.length > 0 ? { waiting } : {}),
      ...(newer.length > 0 ? { newer } : {}),
      ...(isResealDue || waiting.length > 0 ? { next } : {}),
    },
    options,
  );
}
