import { compileCache } from './paths.ts';
import { runCommand } from './run-command.ts';
import { adminCliEntry } from './service-files.ts';

const timeoutMs = 60_000;

/**
 * Runs `svc` with these words in a process of its own; returns what it printed.
 * Throws CommandError with what it said where it refuses.
 */
export function svcText(words: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  return runCommand([process.execPath, adminCliEntry, ...words], {
    env: { ...compileCache, ...env },
    timeoutMs,
  });
}

/** Runs `svc … --json` and returns the record that it printed (CONTRACT 9). */
export async function svc(words: readonly string[], env: NodeJS.ProcessEnv): Promise<unknown> {
  const printed = await svcText([...words, '--json'], env);
  return JSON.parse(printed);
}
