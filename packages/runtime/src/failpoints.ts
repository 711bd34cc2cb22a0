import { ConfigError } from './config.ts';

/**
 * Named places at which tests stop a process, to kill it there or to empty Redis. They are armed by
 * `SVC_FAILPOINTS=name,name`, never in production, and only if a parent process with an IPC channel
 * can release the process. An armed failpoint stops the first caller that reaches it.
 */
const armed = new Set<string>();

/** Arms the failpoints that the environment names. Throws `ConfigError` if that is not allowed. */
export function armFailpoints(env: NodeJS.ProcessEnv): void {
  const names = (env['SVC_FAILPOINTS'] ?? '').split(',').filter((name) => name !== '');
  if (names.length === 0) return;
  if (env['SVC_ENVIRONMENT'] === 'production') {
    throw new ConfigError('SVC_FAILPOINTS is for tests and must not be set in production.');
  }
  if (process.send === undefined) {
    throw new ConfigError('SVC_FAILPOINTS needs a parent process with an IPC channel.');
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

/** If `name` is armed, notifies the parent and waits until it is released. Else does nothing. */
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
