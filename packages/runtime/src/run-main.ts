import type { Logger } from 'pino';
import type { Static, TObject } from 'typebox';

import { ConfigError, loadConfig } from './config.ts';
import { armFailpoints } from './failpoints.ts';
import { createLogger } from './logger.ts';

/** A running service. */
export interface Running {
  /** Of its own interface, where it has one. */
  readonly port?: number;
  readonly adminPort: number;
  close(): Promise<void>;
}

/** The service cannot start, for a reason that the operator can do something about. */
export class CannotStart extends Error {
  override readonly name = 'CannotStart';
}

/** Throws `CannotStart`. */
export function cannotStart(reason: string): never {
  throw new CannotStart(reason);
}

const drainTimeoutMs = 10_000;

function reasonNotToStart(error: unknown): string | undefined {
  return error instanceof ConfigError || error instanceof CannotStart ? error.message : undefined;
}

/** Runs the process to its end: by signal or with its parent, draining, or by a fatal error. */
function superviseUntilExit(running: Running, logger: Logger): void {
  let stopping = false;
  const stop = async (why: string): Promise<void> => {
    if (stopping) return;
    stopping = true;
    logger.info({ why }, 'stopping');
    const deadline = setTimeout(() => {
      logger.warn({ drainTimeoutMs }, 'did not drain in time');
      process.exit(0);
    }, drainTimeoutMs);
    try {
      await running.close();
    } catch (error) {
      logger.error({ err: error }, 'could not close cleanly');
    }
    clearTimeout(deadline);
    logger.info('stopped');
    process.exit(0);
  };
  process.on('SIGTERM', () => void stop('SIGTERM'));
  process.on('SIGINT', () => void stop('SIGINT'));
  // A parent that started this process with an IPC channel takes it along when it dies.
  if (process.channel !== undefined) process.on('disconnect', () => void stop('parent gone'));
}

/**
 * What every service's `main.ts` does: reads the configuration, starts the service, says `ready`
 * in one log line with its ports, drains on SIGTERM and SIGINT for at most 10 s, and exits with 1
 * on anything that it did not expect.
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
    const reason = reasonNotToStart(error);
    if (reason === undefined) logger.fatal({ err: error }, 'fatal error');
    else logger.fatal(reason);
    process.exit(1);
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
  try {
    const config = loadConfig(schema, process.env);
    if (level !== undefined && level !== '') logger = createLogger({ service, level });
    armFailpoints(process.env);
    const running = await run(config, { logger });
    superviseUntilExit(running, logger);
    logger.info({ port: running.port, adminPort: running.adminPort }, 'ready');
    // Whoever started the process waits for this line.
    logger.flush();
  } catch (error) {
    die(error);
  }
}
