import { ConfigError } from './config.ts';

/**
 * Places where tests stop a process, to kill it there or to empty Redis under it. Armed by
 * `SVC_FAILPOINTS=name,name`, never in production, and only under a parent that holds an IPC
 * channel and thereby can let the process go on. An armed point stops the first who reaches it.
 */
const armed = new Set<string>();

/** Arms what the environment names. Throws `ConfigError` where that is not allowed. */
export function armFailpoints(env: NodeJS.ProcessEnv): void {
  const names = (env['SVC_FAILPOINTS'] ?? '').split(',').filter((name) => name !== '');
  if (names.length === 0) return;
  if (env['SVC_ENVIRONMENT'] === 'production') {
    throw new ConfigError('SVC_FAILPOINTS is for tests and must not be set in production');
  }
  if (process.send === undefined) {
    throw new ConfigError('SVC_FAILPOINTS needs a parent process with an IPC channel');
  }
  for (const name of names) armed.add(name);
}

function isRelease(message: unknown, name: string): boolean {
  return (
    typeof message === 'object' &&
    message !== null &&
    'release' in message &&
    message.release === name
  );
}

/** Does nothing unless `name` is armed; then tells the parent and waits to be released. */
export async function failpoint(name: string): Promise<void> {
  if (!armed.delete(name)) return;
  await new Promise<void>((resolve) => {
    const onMessage = (message: unknown): void => {
      if (!isRelease(message, name)) return;
      process.off('message', onMessage);
      resolve();
    };
    process.on('message', onMessage);
    process.send?.({ failpoint: name });
  });
}
