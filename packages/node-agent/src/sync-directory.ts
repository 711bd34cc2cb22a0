import { open } from 'node:fs/promises';

/**
 * Writes a directory to disk. Call this after a rename or a removal of a file in the directory.
 * Otherwise a power loss can bring the old file back.
 */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
