import { execFile } from 'node:child_process';
import { checkoutDir } from './paths.ts';
import { adminCliEntry } from './service-files.ts';

/** The admin CLI refused, or could not be run. */
export class SvcCommandError extends Error {
  override readonly name = 'SvcCommandError';
}

const timeoutMs = 60_000;

/** Runs `svc` with these words in a process of its own; returns what it printed. */
export function svcText(words: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [adminCliEntry, ...words],
      { cwd: checkoutDir, env, timeout: timeoutMs },
      (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        const said = `${stderr}${stdout}`.trim() || error.message;
        const message = `svc ${words.join(' ')} failed: ${said}`;
        return reject(new SvcCommandError(message, { cause: error }));
      },
    );
  });
}

/** Runs `svc … --json` and returns the record that it printed (CONTRACT.md section 9). */
export async function svc(words: readonly string[], env: NodeJS.ProcessEnv): Promise<unknown> {
  const text = await svcText([...words, '--json'], env);
  return JSON.parse(text);
}
