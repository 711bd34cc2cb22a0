import { spawnSync } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';

/** The name of the variable that gives live-gateway.test.ts its command, as JSON. */
export const commandVariable = 'LIVE_GATEWAY_COMMAND';

/**
 * Runs a command with the address of a live gateway and the keys of a tenant and an operator in its
 * environment (live-gateway.test.ts). Returns true if the command succeeds.
 */
export function runAtLiveGateway(command: readonly string[]): boolean {
  const file = path.join(import.meta.dirname, 'live-gateway.test.ts');
  const { status } = spawnSync('vitest', ['run', '--disableConsoleIntercept', file], {
    stdio: 'inherit',
    env: { ...process.env, [commandVariable]: JSON.stringify(command) },
  });
  return status === 0;
}
