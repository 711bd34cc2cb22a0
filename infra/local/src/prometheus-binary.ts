import { existsSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { canFetchPackages, fetchPackages, onPath } from './debian-packages.ts';
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
 * download is not possible, and CommandError if the download fails.
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
  if (!existsSync(root)) {
    if (!canFetchPackages()) {
      throw new StartError('Prometheus or promtool is missing.', 'Install prometheus.');
    }
    onFetch();
    await fetchPackages(root, ['prometheus']);
  }
  completeAssets(path.join(root, assets, 'static'));
  const bin = path.join(root, 'usr/bin');
  return {
    prometheus: path.join(bin, 'prometheus'),
    promtool: path.join(bin, 'promtool'),
    webAssets: path.join(root, assets),
  };
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
