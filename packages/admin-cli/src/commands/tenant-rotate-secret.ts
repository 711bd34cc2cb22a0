import { randomBytes } from 'node:crypto';
import { assertNever, toWireId } from '@svc/domain';
import { newSecret, type SecretPrefix } from '@svc/signing';
import { rotateTenantSecret } from '@svc/store';
import type { Command } from 'commander';
import { durationArgument, idArgument } from '../arguments.ts';
import { addCommand, addYesOption, type CommandOptions } from '../command.ts';
import { confirm } from '../confirm.ts';
import { type Context, withContext } from '../context.ts';
import { printRecord } from '../output.ts';
import { Refusal, WrongUsage } from '../refusal.ts';
import { noSuchTenant } from './tenant-shown.ts';

interface RotateOptions extends CommandOptions {
  hmac?: boolean;
  webhook?: boolean;
  /** Milliseconds. */
  overlap: number;
  force?: boolean;
}

const overlapMsDefault = 24 * 3_600_000;

/** `svc tenant rotate-secret` (CONTRACT 1, 6 and 9). */
export function addRotateSecretCommand(tenant: Command): void {
  const command = addCommand(tenant, 'rotate-secret', {
    does: 'give it a new secret, shown this once; the one before stays valid for a while',
    examples: [
      'svc tenant rotate-secret tnt_… --hmac',
      'svc tenant rotate-secret tnt_… --webhook --overlap 1h',
      'svc tenant rotate-secret tnt_… --hmac --overlap 0 --force',
    ],
  });
  addYesOption(command)
    .argument('<tenant>', 'its id, tnt_…', idArgument('tnt'))
    .option('--hmac', 'the one it signs requests with')
    .option('--webhook', 'the one its events are signed with')
    .option('--overlap <duration>', 'how long the one before is valid (24h)', durationArgument)
    .option('--force', 'while two are valid: refuse the oldest from now on')
    .action((id: string, options: Partial<RotateOptions>) =>
      withContext((context) => rotate(context, id, { overlap: overlapMsDefault, ...options })),
    );
}

async function rotate(context: Context, tenantId: string, options: RotateOptions): Promise<void> {
  const { store, by, configuration } = context;
  const { hmac = false, webhook = false, force = false, overlap: overlapMs } = options;
  if (hmac === webhook) throw new WrongUsage('Say which secret: either --hmac or --webhook.');
  const wireId = toWireId('tnt', tenantId);
  if (force || overlapMs === 0) {
    await confirm(`Cut off clients of ${wireId} that still use an older secret?`, options);
  }
  const isSandbox = configuration.SVC_ENVIRONMENT === 'sandbox';
  const prefix: SecretPrefix = webhook ? 'whsec' : isSandbox ? 'hsk_test' : 'hsk_live';
  const secret = newSecret(prefix, randomBytes);
  const kind = webhook ? 'webhook' : 'hmac';
  const rotation = { tenantId, kind, secret, overlapMs, force } as const;
  const outcome = await rotateTenantSecret(store, rotation, by);
  switch (outcome.kind) {
    case 'rotated':
      return printRecord(
        {
          tenantId: wireId,
          [webhook ? 'webhookSecret' : 'hmacSecret']: secret,
          previousValidUntil: outcome.previousValidUntil,
        },
        options,
      );
    case 'two_valid':
      throw new Refusal(
        'Two secrets are valid already, and a third would cut off whoever still uses the oldest. ' +
          'Wait until the overlap is over, or drop the oldest with --force.',
      );
    case 'unknown_tenant':
      throw noSuchTenant();
    default:
      assertNever(outcome);
  }
}
