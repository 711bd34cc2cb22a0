import {
  clearLogLevel,
  listServices,
  type LogLevelSetting,
  readLogLevel,
  setLogLevel,
  type SettableLogLevel,
} from '@svc/queue';
import { withAudit } from '@svc/store';
import { type Command, InvalidArgumentError } from 'commander';
import { durationArgument } from '../arguments.ts';
import { type CommandOptions, describeCommand } from '../command.ts';
import { type Context, withContext } from '../context.ts';
import { shortDuration } from '../durations.ts';
import { printJson, printTable } from '../output.ts';
import { type RedisContext, withRedis } from '../redis.ts';
import { WrongUsage } from '../refusal.ts';
import { isHeard } from './service-status.ts';

const services = ['gateway', 'dispatcher', 'settlement', 'webhooks'] as const;
type Service = (typeof services)[number];

/** The level to set. `configured` ends an earlier setting before its duration is over. */
type LevelWord = SettableLogLevel | 'configured';
const levelWords: readonly LevelWord[] = ['trace', 'debug', 'info', 'warn', 'error', 'configured'];

const durationMsDefault = 10 * 60_000;
const durationMsMin = 10_000;
const durationMsMax = 24 * 3_600_000;

interface LogLevelOptions extends CommandOptions {
  /** The duration in milliseconds. */
  for?: number;
}

/** `svc log-level [SERVICE [LEVEL]] [--for D]` (CONTRACT 9). */
export function addLogLevelCommand(command: Command): void {
  describeCommand(command, {
    does: 'show the log levels of the services, or set the level of one service for a while',
    examples: [
      'svc log-level',
      'svc log-level dispatcher debug --for 30m',
      'svc log-level dispatcher configured',
    ],
  })
    .argument('[service]', services.join(', '), serviceArgument)
    .argument(
      '[level]',
      `${levelWords.join(', ')} (\`configured\` returns to LOG_LEVEL at once)`,
      levelArgument,
    )
    .option(
      '--for <duration>',
      'how long the level applies, from 10s to 24h (default: 10m)',
      forArgument,
    )
    .action(
      (service: Service | undefined, level: LevelWord | undefined, options: LogLevelOptions) =>
        withContext((context) => logLevel(context, { service, level }, options)),
    );
}

function serviceArgument(text: string): Service {
  const found = services.find((service) => service === text);
  if (found === undefined)
    throw new InvalidArgumentError(`It must be one of ${services.join(', ')}.`);
  return found;
}

function levelArgument(text: string): LevelWord {
  const found = levelWords.find((level) => level === text);
  if (found === undefined)
    throw new InvalidArgumentError(`It must be one of ${levelWords.join(', ')}.`);
  return found;
}

function forArgument(text: string): number {
  const durationMs = durationArgument(text);
  if (durationMs < durationMsMin || durationMs > durationMsMax)
    throw new InvalidArgumentError('It must be a duration from 10s to 24h.');
  return durationMs;
}

async function logLevel(
  context: Context,
  {
    service,
    level,
  }: { readonly service: Service | undefined; readonly level: LevelWord | undefined },
  options: LogLevelOptions,
): Promise<void> {
  if (options.for !== undefined && (level === undefined || level === 'configured'))
    throw new WrongUsage(
      '--for needs a service and a level other than `configured`. Example: `svc log-level gateway debug --for 30m`.',
    );
  await withRedis(context, async (redis) => {
    if (service !== undefined && level !== undefined) {
      await change(context, redis, service, level, options.for ?? durationMsDefault);
    }
    await show(redis, service === undefined ? services : [service], options);
  });
}

/** The audit entry is committed only if the change in Redis succeeds. */
async function change(
  { store, by }: Context,
  { redis, prefix }: RedisContext,
  service: Service,
  level: LevelWord,
  durationMs: number,
): Promise<void> {
  const before = await readLogLevel(redis, prefix, service);
  const isCleared = level === 'configured';
  await withAudit(
    store,
    {
      action: isCleared ? 'log_level.clear' : 'log_level.set',
      subject: { kind: 'service', id: `log-level:${service}` },
      before: before === null ? null : { level: before.level },
      after: isCleared ? null : { level, seconds: durationMs / 1_000 },
    },
    by,
    () =>
      isCleared
        ? clearLogLevel(redis, prefix, service)
        : setLogLevel(redis, prefix, service, { level, durationMs }),
  );
}

async function show(
  { redis, prefix }: RedisContext,
  shown: readonly Service[],
  options: LogLevelOptions,
): Promise<void> {
  const heard = (await listServices(redis, prefix)).filter(isHeard);
  const found = await Promise.all(
    shown.map(async (service) => ({
      service,
      setting: await readLogLevel(redis, prefix, service),
      running: heard.filter((one) => one.service === service).length,
    })),
  );
  if (options.json === true) return printJson(found.map(recordOf));
  printTable(
    ['service', 'level', 'ends in', 'applied by'],
    found.map(({ service, setting, running }) => [
      service,
      setting?.level ?? 'configured',
      setting === null ? '-' : shortDuration(setting.leftMs),
      setting === null ? '-' : `${setting.processes} of ${running} processes`,
    ]),
  );
}

function recordOf({
  service,
  setting,
  running,
}: {
  readonly service: Service;
  readonly setting: LogLevelSetting | null;
  readonly running: number;
}): object {
  return {
    service,
    level: setting?.level ?? 'configured',
    leftSeconds: setting === null ? null : Math.ceil(setting.leftMs / 1_000),
    applied: setting?.processes ?? null,
    running,
  };
}
