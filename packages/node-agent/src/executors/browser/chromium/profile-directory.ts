import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { browserPreferences } from './flags.ts';
import { killProcessesOf } from './process-tree.ts';

const privateDirectory = 0o700;
const privateFile = 0o600;
/**
 * The directories of a browser have short names, because a full Chromium makes a socket below them,
 * and the path of a socket is limited in length.
 */
const parentName = 'b';
const nameBytes = 4;

/**
 * The socket of a full Chromium, below TMPDIR. Chromium does not start if the path of this socket
 * is too long.
 */
const socketName = '/org.chromium.Chromium.XXXXXX/SingletonSocket';
/** The longest path of a socket on macOS, in bytes. Linux allows four bytes more. */
const socketPathBytesMax = 103;

export interface ProfileDirectory {
  readonly root: string;
  readonly profile: string;
  readonly home: string;
  readonly temporary: string;
  /**
   * A path of the directory `temporary` that is short enough for a socket. It may be a symbolic
   * link outside `root`.
   */
  readonly shortTemporary: string;
}

/** The path of the symbolic link that `shorten` may create. */
function linkOf(root: string): string {
  const name = `svc-node-${path.basename(root)}`;
  const link = path.join(tmpdir(), name);
  // With the usual `tmpdir()` of macOS, the path of the socket would be too long.
  return hasRoomForSocket(link) ? link : path.join('/tmp', name);
}

function hasRoomForSocket(directory: string): boolean {
  return Buffer.byteLength(directory + socketName) <= socketPathBytesMax;
}

async function shorten(root: string, temporary: string): Promise<string> {
  if (hasRoomForSocket(temporary)) return temporary;
  const link = linkOf(root);
  await symlink(temporary, link);
  return link;
}

export function newProfileDirectory(stateDir: string): string {
  return path.join(stateDir, parentName, randomBytes(nameBytes).toString('hex'));
}

/** All files and directories are private to the user. Throws if `root` exists already. */
export async function createProfileDirectory(root: string): Promise<ProfileDirectory> {
  await mkdir(path.dirname(root), { recursive: true, mode: privateDirectory });
  await mkdir(root, { mode: privateDirectory });
  const made = {
    root,
    profile: path.join(root, 'p'),
    home: path.join(root, 'h'),
    temporary: path.join(root, 't'),
  };
  const defaults = path.join(made.profile, 'Default');
  for (const directory of [made.profile, defaults, made.home, made.temporary]) {
    // oxlint-disable-next-line no-await-in-loop
    await mkdir(directory, { mode: privateDirectory });
  }
  const preferences = JSON.stringify(browserPreferences);
  await writeFile(path.join(defaults, 'Preferences'), preferences, { mode: privateFile });
  return { ...made, shortTemporary: await shorten(root, made.temporary) };
}

/**
 * Deletes a profile directory and its symbolic link (`linkOf`). A browser may still write to the
 * directory for a moment, so a failed deletion is repeated up to 10 times.
 */
export async function deleteProfileDirectory(root: string): Promise<void> {
  // The link exists only if `shorten` created it. Without a link, `unlink` fails.
  await unlink(linkOf(root)).catch(() => {});
  await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
}

/**
 * Kills leftover browsers and deletes their directories. Returns the number of directories. Call it
 * with the state directory locked, before any browser starts.
 */
export async function deleteLeftoverProfiles(stateDir: string): Promise<number> {
  const parent = path.join(stateDir, parentName);
  await mkdir(parent, { recursive: true, mode: privateDirectory });
  const names = await readdir(parent);
  if (names.length === 0) return 0;
  await killProcessesOf(`--user-data-dir=${parent}${path.sep}`);
  await Promise.all(names.map((name) => deleteProfileDirectory(path.join(parent, name))));
  return names.length;
}
