import { open } from 'node:fs/promises';

/**
 * Writes a directory to disk. After a rename, a power loss can otherwise bring the old file back.
 */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
