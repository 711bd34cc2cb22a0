import { existsSync } from 'node:fs';
import path from 'node:path';
import { canFetchPackages, fetchPackages, libraryPath, onPath } from './debian-packages.ts';
import { cacheDir } from './paths.ts';
import { StartError } from './start-error.ts';

export interface ChromiumBinary {
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
}

const advice =
  'Install chromium (Debian, Ubuntu: apt-get install chromium). The pages are tested in a real browser.';

/**
 * Finds a Chromium for tests: the one on the PATH, or Debian's package, which is unpacked below
 * .local without installing it. Throws StartError if neither is available.
 */
export async function chromiumBinary(onFetch: () => void = () => {}): Promise<ChromiumBinary> {
  const installed = onPath('chromium') ?? onPath('chromium-browser') ?? onPath('google-chrome');
  if (installed !== undefined) return { file: installed, env: {} };
  const dir = path.join(cacheDir, 'chromium');
  if (!existsSync(dir)) {
    if (!canFetchPackages()) throw new StartError('There is no Chromium on this machine.', advice);
    onFetch();
    try {
      await fetchPackages(dir, ['chromium', 'fonts-dejavu-core']);
    } catch (error) {
      throw new StartError('Chromium could not be fetched from the Debian packages.', advice, {
        cause: error,
      });
    }
  }
  return { file: path.join(dir, 'usr/lib/chromium/chromium'), env: libraryPath(dir) };
}
