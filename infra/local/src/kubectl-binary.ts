import path from 'node:path';
import {
  areUsable,
  canFetchPackages,
  fetchFromRelease,
  onPath,
  tryProgram,
} from './debian-packages.ts';
import { cacheDir } from './paths.ts';
import { StartError } from './start-error.ts';

/** kubectl comes from Debian 13, because the kustomize in the kubectl of Debian 12 is too old. */
const release = 'trixie';
const kept = {
  dir: path.join(cacheDir, 'kubectl'),
  tryOut: (root: string) => tryProgram(fileIn(root), {}, ['version', '--client']),
};

function fileIn(root: string): string {
  return path.join(root, 'usr/bin/kubectl');
}

/**
 * Returns the path of kubectl, which contains kustomize. If there is none, calls `onFetch` and
 * downloads it. Throws StartError if that is not possible.
 */
export async function kubectlBinary(onFetch: () => void = () => {}): Promise<string> {
  const installed = onPath('kubectl');
  if (installed !== undefined) return installed;
  if (await areUsable(kept)) return fileIn(kept.dir);
  const advice = 'Install kubectl 1.27 or newer (Debian 13: apt-get install kubectl).';
  if (!canFetchPackages()) throw new StartError('There is no kubectl on this machine.', advice);
  onFetch();
  try {
    await fetchFromRelease(kept, release, [`kubectl/${release}`]);
  } catch (error) {
    const message = 'kubectl could not be fetched from the Debian packages.';
    throw new StartError(message, advice, { cause: error });
  }
  return fileIn(kept.dir);
}
