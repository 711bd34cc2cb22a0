import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { canFetchPackages, fetchPackages, libraryPath, onPath } from './debian-packages.ts';
import { cacheDir } from './paths.ts';
import { StartError } from './start-error.ts';

/**
 * The browsers to look for on the PATH, the preferred one first (CONTRACT 10). The headless shell
 * is preferred, because it needs a third of the CPU of a full browser.
 */
const programs = ['chromium-headless-shell', 'chromium', 'google-chrome', 'chrome'];
const packages = ['chromium-headless-shell', 'fonts-dejavu-core'];
const fetchedDir = path.join(cacheDir, 'chromium-headless-shell');
const fetchedFile = path.join(fetchedDir, 'run');

export const browserAdvice =
  'Install chromium-headless-shell (Debian 12 or newer: apt-get install chromium-headless-shell), chromium or Google Chrome.';

/**
 * Returns the path of a browser: one on the PATH, or else the one that `chromiumBinary` has
 * fetched. Undefined if there is none.
 */
export function findChromium(): string | undefined {
  const installed = programs.map(onPath).find((file) => file !== undefined);
  return installed ?? (existsSync(fetchedFile) ? fetchedFile : undefined);
}

/**
 * Returns the path of a browser. If there is none, calls `onFetch` and downloads Debian's headless
 * shell. Throws StartError if that is not possible.
 */
export async function chromiumBinary(onFetch: () => void = () => {}): Promise<string> {
  const found = findChromium();
  if (found !== undefined) return found;
  if (!canFetchPackages()) {
    throw new StartError('There is no Chromium or Google Chrome on the PATH.', browserAdvice);
  }
  onFetch();
  try {
    await fetchPackages(fetchedDir, packages, writeStarter);
  } catch (error) {
    const message = 'Chromium could not be fetched from the Debian packages.';
    throw new StartError(message, browserAdvice, { cause: error });
  }
  return fetchedFile;
}

/**
 * Writes a script that starts the unpacked browser with its libraries. It ends with `exec`, so that
 * the browser has the script's process id.
 */
function writeStarter(unpacked: string): void {
  const libraries = libraryPath(unpacked).LD_LIBRARY_PATH.replaceAll(unpacked, '$root');
  // The script uses the fetched fonts, because the browser crashes on a machine without fonts.
  const script = `#!/bin/sh
root=$(cd "$(dirname "$0")" && pwd)
[ ! -d "$root/usr/share/fonts" ] || export FONTCONFIG_SYSROOT="$root"
LD_LIBRARY_PATH="${libraries}" exec "$root/usr/lib/chromium/chromium-headless-shell" "$@"
`;
  const file = path.join(unpacked, path.basename(fetchedFile));
  writeFileSync(file, script);
  chmodSync(file, 0o755);
}
