import type { Logger } from 'pino';
import type { Static, TObject } from 'typebox';
import { ConfigError, loadConfig } from './config.ts';
import { allowFailpoints } from './failpoints.ts';
import { createLogger } from './logger.ts';

export interface Running {
  /** The port that the service opens for its clients or nodes. Undefined if it opens none. */
  readonly port?: number;
  readonly adminPort: number;
  close(): Promise<void>;
}

/** The exit status of a process whose configuration is wrong (CONTRACT 9). */
export const wrongConfigurationStatus = 2;

/** The service cannot start for a reason that the operator can fix. */
export class CannotStart extends Error {
  override readonly name = 'CannotStart';
  readonly exitStatus: number;

  constructor(reason: string, exitStatus = 1) {
    super(reason);
    this.exitStatus = exitStatus;
  }
}

export function cannotStart(reason: string, exitStatus = 1): never {
  throw new CannotStart(reason, exitStatus);
}

const drainTimeoutMs = 10_000;

/** Undefined for an error that is a fault of the service itself. */
function refusalToStart(error: unknown): { reason: string; exitStatus: number } | undefined {
  if (error instanceof CannotStart) return { reason: error.message, exitStatus: error.exitStatus };
  if (!(error instanceof ConfigError)) return undefined;
  return { reason: error.message, exitStatus: wrongConfigurationStatus };
}

function superviseUntilExit(running: Running, logger: Logger): void {
  let stopping = false;
  const stop = async (why: string): Promise<void> => {
    if (stopping) return;
    stopping = true;
    logger.info({ why }, 'stopping');
    const deadline = setTimeout(() => {
      logger.warn({ drainTimeoutMs }, 'could not drain in time');
      process.exit(0);
    }, drainTimeoutMs);
    try {
      await running.close();
    } catch (error) {
      logger.error({ err: error }, 'could not stop the process cleanly');
    }
    clearTimeout(deadline);
    logger.info('stopped');
    process.exit(0);
  };
  process.on('SIGTERM', () => void stop('SIGTERM'));
  process.on('SIGINT', () => void stop('SIGINT'));
  // If the parent started this process with an IPC channel, the process stops when the channel
  // closes. The channel closes at the latest when the parent ends.
  if (process.channel !== undefined) process.on('disconnect', () => void stop('parent gone'));
}

/**
 * Runs a service, logs `ready` with its ports, and drains on a signal. Exits with the status of a
 * `CannotStart`, with 2 after a `ConfigError`, or with 1.
 */
export async function runMain<T extends TObject>({
  service,
  config: schema,
  run,
}: {
  readonly service: string;
  readonly config: T;
  readonly run: (config: Static<T>, overrides: { readonly logger: Logger }) => Promise<Running>;
}): Promise<void> {
  const level = process.env['LOG_LEVEL'];
  let logger = createLogger({ service, level: 'info' });
  const die = (error: unknown): never => {
    const refusal = refusalToStart(error);
    if (refusal === undefined) logger.fatal({ err: error }, 'fatal error');
    else logger.fatal({ event: 'process.cannot_start' }, refusal.reason);
    process.exit(refusal?.exitStatus ?? 1);
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
  try {
    const config = loadConfig(schema, process.env);
    if (level !== undefined && level !== '') logger = createLogger({ service, level });
    allowFailpoints(process.env);
    const running = await run(config, { logger });
    superviseUntilExit(running, logger);
    logger.info({ port: running.port, adminPort: running.adminPort }, 'ready');
    // Writes the line at once, because the process that started this one waits for it.
    logger.flush();
  } catch (error) {
    die(error);
  }
}
