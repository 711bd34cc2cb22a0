import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';

/** Another process of this node is at work in the same directory. */
export class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse';
}

/** The lock cannot be taken or refused: a tool is missing, or the file system has no locks. */
export class CannotLock extends Error {
  override readonly name = 'CannotLock';
}

const lockName = 'agent.lock';
const privateFile = 0o600;
/** What flock(1) exits with if another process holds the lock. */
const heldElsewhere = 1;
/** `O_EXLOCK` of macOS, which Node does not name: open and lock in one call. */
const openLockedOnMacOs = 0x20;

function inUse(directory: string): DirectoryInUse {
  return new DirectoryInUse(`another process is at work in ${directory}`);
}

/**
 * Locks an open file with flock(2). Node has no call for it, so flock(1) does it on the descriptor
 * that it inherits: the lock belongs to the open file, which this process goes on holding when
 * flock(1) has ended. Children that this process starts later do not inherit the descriptor.
 */
async function flock(file: FileHandle, directory: string): Promise<void> {
  const child = spawn('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', file.fd] });
  let code: unknown;
  try {
    [code] = await once(child, 'exit');
  } catch (error) {
    throw new CannotLock('flock is needed to lock the state directory; install util-linux', {
      cause: error,
    });
  }
  if (code === heldElsewhere) throw inUse(directory);
  if (code !== 0) throw new CannotLock(`the file system of ${directory} has no locks`);
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
 * Makes this process the only one at work in a directory, for as long as it lives. The kernel holds
 * the lock and releases it when the process ends, however it ends, so there is no stale lock to take
 * over and no race in doing so. The lock is on a file in the directory itself: it counts for every
 * container of this machine that shares the directory, and on a network file system for every
 * machine if that file system forwards locks. The file stays, because removing a locked file would
 * let a second process lock another one of the same name. Resolves with how to let go. Throws
 * `DirectoryInUse` or `CannotLock`.
 */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  const handle = await openLocked(path.join(directory, lockName), directory);
  return () => handle.close();
}
