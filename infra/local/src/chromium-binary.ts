import { chmodSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  areUsable,
  canFetchPackages,
  fetchPackages,
  libraryPath,
  onPath,
  tryProgram,
} from './debian-packages.ts';
import { cacheDir } from './paths.ts';
import { StartError } from './start-error.ts';

/**
 * The browsers to look for on the PATH, the preferred one first (CONTRACT 10). The headless shell
 * is preferred, because it needs a third of the CPU of a full browser.
 */
const programs = ['chromium-headless-shell', 'chromium', 'google-chrome', 'chrome'];
const packages = ['chromium-headless-shell', 'fonts-dejavu-core'];
const shell = 'usr/lib/chromium/chromium-headless-shell';
const kept = {
  dir: path.join(cacheDir, 'chromium-headless-shell'),
  finish: writeStarter,
  tryOut: (root: string) => tryProgram(starterIn(root)),
};

function starterIn(root: string): string {
  return path.join(root, 'run');
}

export const browserAdvice =
  'Install chromium-headless-shell (Debian 12 or newer: apt-get install chromium-headless-shell), chromium or Google Chrome.';

/**
 * Returns the path of a browser: one on the PATH, or else the one that `chromiumBinary` has
 * fetched. Undefined if there is none.
 */
export function findChromium(): string | undefined {
  const fetched = [starterIn(kept.dir), path.join(kept.dir, shell)];
  return installedBrowser() ?? (fetched.every(hasContent) ? fetched[0] : undefined);
}

function installedBrowser(): string | undefined {
  return programs.map(onPath).find((file) => file !== undefined);
}

function hasContent(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/**
 * Returns the path of a browser. If there is none, calls `onFetch` and downloads Debian's headless
 * shell. Throws StartError if that is not possible.
 */
export async function chromiumBinary(onFetch: () => void = () => {}): Promise<string> {
  const installed = installedBrowser();
  if (installed !== undefined) return installed;
  if (await areUsable(kept)) return starterIn(kept.dir);
  if (!canFetchPackages()) {
    throw new StartError('There is no Chromium or Google Chrome on the PATH.', browserAdvice);
  }
  onFetch();
  try {
    await fetchPackages(kept, packages);
  } catch (error) {
    const message = 'Chromium could not be fetched from the Debian packages.';
    throw new StartError(message, browserAdvice, { cause: error });
  }
  return starterIn(kept.dir);
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
LD_LIBRARY_PATH="${libraries}" exec "$root/${shell}" "$@"
`;
  const file = starterIn(unpacked);
  writeFileSync(file, script);
  chmodSync(file, 0o755);
}
