import { compileCache } from './paths.ts';
import { runCommand } from './run-command.ts';
import { adminCliEntry } from './service-files.ts';

const timeoutMs = 60_000;

/**
 * Runs `svc` and returns its standard output. If `svc` fails, throws CommandError with its error
 * output.
 */
export function svcText(words: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const entry = env['SVC_CLI_ENTRY'] ?? adminCliEntry;
  return runCommand([process.execPath, entry, ...words], {
    env: { ...compileCache, ...env },
    timeoutMs,
  });
}

/**
 * Runs `svc … --json` and returns its parsed output: a record, or a list of records (CONTRACT 9).
 * If `svc` fails, throws CommandError with its error output.
 */
export async function svc(words: readonly string[], env: NodeJS.ProcessEnv): Promise<unknown> {
  const printed = await svcText([...words, '--json'], env);
  return JSON.parse(printed);
}
