import { ConfigError } from './config.ts';

/**
 * The armed failpoints. A failpoint is a named place at which a process stops until its parent
 * process releases it. Only tests arm failpoints.
 */
const armed = new Set<string>();

/**
 * If `SVC_FAILPOINTS` is set, lets the parent process arm failpoints. Throws `ConfigError` if the
 * value is not `on`, if this is production, or if there is no IPC channel.
 */
export function allowFailpoints(env: NodeJS.ProcessEnv): void {
  const setting = env['SVC_FAILPOINTS'] ?? '';
  if (setting === '') return;
  if (env['SVC_ENVIRONMENT'] === 'production') {
    throw new ConfigError('SVC_FAILPOINTS is for tests and must not be set in production.');
  }
  if (setting !== 'on') throw new ConfigError('SVC_FAILPOINTS must be "on" or not set.');
  if (process.send === undefined) {
    throw new ConfigError('SVC_FAILPOINTS needs a parent process with an IPC channel.');
  }
  process.on('message', (message) => {
    const name = nameIn(message, 'arm');
    if (name === undefined) return;
    armed.add(name);
    process.send?.({ armed: name });
  });
  // The open IPC channel alone must not keep the process alive.
  process.channel?.unref();
}

function nameIn(message: unknown, key: 'arm' | 'release'): string | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  const name: unknown = Reflect.get(message, key);
  return typeof name === 'string' ? name : undefined;
}

/** If `name` is armed, disarms it, notifies the parent and waits until the parent releases it. */
export async function failpoint(name: string): Promise<void> {
  if (!armed.delete(name)) return;
  await new Promise<void>((resolve) => {
    const onMessage = (message: unknown): void => {
      if (nameIn(message, 'release') !== name) return;
      process.off('message', onMessage);
      resolve();
    };
    process.on('message', onMessage);
    process.send?.({ failpoint: name });
  });
}
