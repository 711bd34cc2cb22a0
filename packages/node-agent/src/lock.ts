import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';

/** Another process, usually a second agent of the same node, uses the directory. */
export class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse';
}

/** The directory cannot be locked: flock(1) cannot be started, or the file system has no locks. */
export class CannotLock extends Error {
  override readonly name = 'CannotLock';
}

/**
 * The lock file is never removed. Otherwise a second process could create and lock a new file of
 * the same name, while the first process still has its lock.
 */
const lockName = 'agent.lock';
const privateFile = 0o600;
/** The exit code of flock(1) if another process has the lock. */
const lockedElsewhere = 1;
/**
 * `O_EXLOCK` of macOS, which opens and locks a file in one call. Node.js does not export this flag.
 */
const openLockedOnMacOs = 0x20;

/**
 * Keeps the handles of the locked files reachable, because Node.js closes a file whose handle is
 * unreachable. That would release the lock.
 */
const lockedFiles = new Set<FileHandle>();

function inUse(directory: string): DirectoryInUse {
  return new DirectoryInUse(
    `Another svc-node process uses ${directory}. Stop it. A node with another id needs its own --state-dir.`,
  );
}

/**
 * Locks an open file. Node.js lacks flock(2), so the program flock(1) locks the inherited
 * descriptor. The lock belongs to the open file, so it outlasts flock(1).
 */
async function flock(file: FileHandle, directory: string): Promise<void> {
  const child = spawn('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', file.fd] });
  let code: unknown;
  try {
    [code] = await once(child, 'exit');
  } catch (error) {
    throw new CannotLock(
      'flock, which locks the state directory, cannot be started. Install util-linux.',
      {
        cause: error,
      },
    );
  }
  if (code === lockedElsewhere) throw inUse(directory);
  if (code !== 0) {
    throw new CannotLock(
      `The file system of ${directory} cannot lock files. Set --state-dir to a local directory.`,
    );
  }
}

async function openLocked(file: string, directory: string): Promise<FileHandle> {
  const flags = constants.O_RDWR | constants.O_CREAT;
  if (process.platform !== 'darwin') {
    const handle = await open(file, flags, privateFile);
    try {
      await flock(handle, directory);
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }
  try {
    return await open(file, flags | openLockedOnMacOs | constants.O_NONBLOCK, privateFile);
  } catch (error) {
    const isHeld = error instanceof Error && 'code' in error && error.code === 'EAGAIN';
    throw isHeld ? inUse(directory) : error;
  }
}

/**
 * Locks a directory for this process, until the process ends or calls the returned function. Throws
 * `DirectoryInUse`, `CannotLock` or the error of `open`.
 */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  const handle = await openLocked(path.join(directory, lockName), directory);
  lockedFiles.add(handle);
  return async () => {
    lockedFiles.delete(handle);
    await handle.close();
  };
}
