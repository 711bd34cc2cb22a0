import { execFileSync, spawnSync } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';

const cacheDir = path.resolve(import.meta.dirname, '../../.local/cache');
const python = process.env['PYTHON'] ?? 'python3';

/**
 * Installs Python packages below `.local/cache`. `program` returns the path of an installed
 * program. `missing` is the reason for a failure.
 */
export function pythonTools(
  name: string,
  packages: readonly string[],
): { readonly program: (file: string) => string } | { readonly missing: string } {
  const dir = path.join(cacheDir, name);
  const program = (file: string) => path.join(dir, 'bin', file);
  try {
    execFileSync(python, ['-m', 'venv', dir], { stdio: 'ignore' });
  } catch {
    return {
      missing: `${python} or its module venv is missing, so no Python tool ran. Install both.`,
    };
  }
  const { status } = spawnSync(program('pip'), ['install', '--quiet', ...packages], {
    stdio: 'inherit',
  });
  return status === 0
    ? { program }
    : { missing: `pip could not install ${packages.join(' ')}, so no Python tool ran.` };
}
