import { existsSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import {
  areUsable,
  canFetchPackages,
  fetchPackages,
  onPath,
  tryProgram,
} from './debian-packages.ts';
import { cacheDir } from './paths.ts';
import { StartError } from './start-error.ts';

export interface PrometheusPrograms {
  readonly prometheus: string;
  readonly promtool: string;
  /** The directory of the web interface in Debian's package, for `--web.local-assets`. */
  readonly webAssets: string;
}

/**
 * Finds Prometheus and promtool, or calls `onFetch` and downloads both. Throws StartError if the
 * download is not possible, and another error if the download fails.
 */
export async function prometheusPrograms(
  onFetch: () => void = () => {},
): Promise<PrometheusPrograms> {
  const prometheus = onPath('prometheus');
  const promtool = onPath('promtool');
  const assets = 'usr/share/prometheus/web';
  if (prometheus !== undefined && promtool !== undefined) {
    return { prometheus, promtool, webAssets: path.join('/', assets) };
  }
  const root = path.join(cacheDir, 'prometheus');
  const kept = { dir: root, tryOut };
  if (!(await areUsable(kept))) {
    if (!canFetchPackages()) {
      throw new StartError('Prometheus or promtool is missing.', 'Install prometheus.');
    }
    onFetch();
    await fetchPackages(kept, ['prometheus']);
  }
  completeAssets(path.join(root, assets, 'static'));
  const bin = path.join(root, 'usr/bin');
  return {
    prometheus: path.join(bin, 'prometheus'),
    promtool: path.join(bin, 'promtool'),
    webAssets: path.join(root, assets),
  };
}

async function tryOut(root: string): Promise<void> {
  for (const name of ['prometheus', 'promtool']) {
    await tryProgram(path.join(root, 'usr/bin', name));
  }
}

/**
 * Replaces each broken link in `dir` with a link into /usr/share/javascript. A link is broken if
 * its target belongs to a package that is installed and so was not downloaded.
 */
function completeAssets(dir: string): void {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const link = path.join(dir, entry.name);
    if (!entry.isSymbolicLink() || existsSync(link)) continue;
    rmSync(link);
    symlinkSync(path.join('/usr/share/javascript', entry.name), link);
  }
}
