import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

export function collecting(dir: string, name: string): NodeJS.ProcessEnv {
  return { FAULTS_MEMORY_FILE: fileOf(dir, name) };
}

export const collectPreload = pathToFileURL(path.join(import.meta.dirname, 'collect-preload.ts'));

/**
 * Limits the young generation of V8. Otherwise V8 may double the size of this generation at any
 * time, which looks like a leak in the resident memory.
 */
export const youngGenerationLimit = '--max-semi-space-size=2';

const lookEveryMs = 20;
const boundMs = 20_000;

/**
 * Makes a process collect its garbage. Resolves with the bytes that its objects still use, in V8's
 * heap and outside it. Throws if the process does not report them within `boundMs`.
 */
export async function collectedBytes(dir: string, name: string, pid: number): Promise<number> {
  const file = fileOf(dir, name);
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  const startedMs = performance.now();
  while (performance.now() - startedMs < boundMs) {
    await sleep(lookEveryMs);
    const bytes = read(file);
    if (bytes !== undefined) return bytes;
  }
  throw new Error(`${name} did not report its memory in ${boundMs} ms`);
}

function read(file: string): number | undefined {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function fileOf(dir: string, name: string): string {
  return path.join(dir, 'memory', name.replaceAll(' ', '-'));
}
