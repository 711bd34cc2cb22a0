import { mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import path from 'node:path';

/** The file system in memory that Linux offers to every process. */
const memory = '/dev/shm';
const namePattern = /^svc-run-(\d+)-/;
/**
 * Both the free bytes of `/dev/shm` and `process.availableMemory()` must be at least this number.
 * A run of all tests uses at most 2 GiB.
 */
const roomBytesMin = 6 * 1024 ** 3;

/**
 * Creates a directory in memory, where creating a test database takes less CPU. Returns undefined
 * if `/dev/shm` is missing, has too little room or cannot run programs.
 */
export function createMemoryDirectory(): string | undefined {
  if (!hasRoom()) return undefined;
  deleteAbandoned();
  return mkdtempSync(path.join(memory, `svc-run-${process.pid}-`));
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory);
    const room = Math.min(bavail * bsize, process.availableMemory());
    return room >= roomBytesMin && runsPrograms();
  } catch {
    return false;
  }
}

function runsPrograms(): boolean {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
  const options = mounts.findLast((line) => line.split(' ')[1] === memory)?.split(' ')[3];
  return options !== undefined && !options.split(',').includes('noexec');
}

/** Deletes directories whose process has ended. A process that is killed leaves its directory. */
function deleteAbandoned(): void {
  for (const name of readdirSync(memory)) {
    const [, pid] = namePattern.exec(name) ?? [];
    if (pid === undefined || isRunning(Number(pid))) continue;
    try {
      rmSync(path.join(memory, name), { recursive: true, force: true });
    } catch {
      // A mount of the killed run, or another run that deletes the same files. A later run deletes it.
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
