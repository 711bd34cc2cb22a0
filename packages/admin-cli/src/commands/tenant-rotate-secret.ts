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
import { announceDeliveries } from '../redis.ts';
import { Refusal, WrongUsage } from '../refusal.ts';
import { unknownTenant } from './tenant-output.ts';

interface RotateOptions extends CommandOptions {
  hmac?: boolean;
  webhook?: boolean;
  /** The time for which the old secret stays valid, in milliseconds. */
  overlap: number;
  force?: boolean;
}

const overlapMsDefault = 24 * 3_600_000;

/** `svc tenant rotate-secret` (CONTRACT 1, 6 and 9). */
export function addRotateSecretCommand(tenant: Command): void {
  const command = addCommand(tenant, 'rotate-secret', {
    does: 'give a tenant a new secret and show it once; the old one stays valid for the overlap',
    examples: [
      'svc tenant rotate-secret tnt_… --hmac',
      'svc tenant rotate-secret tnt_… --webhook --overlap 1h',
      'svc tenant rotate-secret tnt_… --hmac --overlap 0 --force',
    ],
  });
  addYesOption(command)
    .argument('<tenant>', 'its id, tnt_…', idArgument('tnt'))
    .option(
      '--hmac',
      'rotate the secret that signs requests of the tenant; named keys keep their secrets',
    )
    .option('--webhook', 'rotate the secret that signs webhooks to the webhookUrl of the tenant')
    .option(
      '--overlap <duration>',
      'how long the old secret stays valid (default: 24h)',
      durationArgument,
    )
    .option(
      '--force',
      'rotate even if two secrets are valid already; the older one then ends at once',
    )
    .action((id: string, options: Partial<RotateOptions>) =>
      withContext((context) => rotate(context, id, { overlap: overlapMsDefault, ...options })),
    );
}

async function rotate(context: Context, tenantId: string, options: RotateOptions): Promise<void> {
  const { store, by, configuration } = context;
  const { hmac = false, webhook = false, force = false, overlap: overlapMs } = options;
  if (hmac === webhook)
    throw new WrongUsage('Choose the secret to rotate: either --hmac or --webhook.');
  const wireId = toWireId('tnt', tenantId);
  if (force || overlapMs === 0) {
    const name = webhook ? 'secrets for the webhookUrl' : 'secrets of first keys';
    const effect =
      overlapMs === 0
        ? `All earlier ${name} of ${wireId} stop working within 5 s.`
        : `If two ${name} of ${wireId} are valid, the older one stops working within 5 s.`;
    await confirm(`${effect} Programs that use a stopped secret fail. Go on?`, options);
  }
  const isSandbox = configuration.SVC_ENVIRONMENT === 'sandbox';
  const prefix: SecretPrefix = webhook ? 'whsec' : isSandbox ? 'hsk_test' : 'hsk_live';
  const secret = newSecret(prefix, randomBytes);
  const kind = webhook ? 'webhook' : 'hmac';
  const rotation = { tenantId, kind, secret, overlapMs, force } as const;
  const outcome = await rotateTenantSecret(store, rotation, by);
  switch (outcome.kind) {
    case 'rotated':
      await announceDeliveries(context, outcome.deliveryIds.length === 0 ? [] : [tenantId]);
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
        'Two secrets are valid already. A third would end the oldest, which may still be in use. ' +
          'Wait until the overlap ends, or drop the oldest secret with --force.',
      );
    case 'unknown_tenant':
      throw unknownTenant();
    default:
      assertNever(outcome);
  }
}
