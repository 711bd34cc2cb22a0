import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { examplesDir } from './examples.ts';

/**
 * `pnpm guides`: runs the code of all guides and all examples. It first installs the pinned
 * packages of the examples in a cache, except Next.js.
 */

const checkoutDir = path.resolve(import.meta.dirname, '../..');
const dir = path.join(checkoutDir, '.local/cache/examples');
const venv = path.join(dir, 'python');

mkdirSync(dir, { recursive: true });
const packages = globSync('*/package.json', { cwd: examplesDir }).flatMap((file) =>
  Object.entries(
    Object(JSON.parse(readFileSync(path.join(examplesDir, file), 'utf8')).dependencies),
  ).map(([name, version]) => `${name}@${String(version)}`),
);
writeFileSync(path.join(dir, 'package.json'), '{"private":true}\n');
// Next.js is not needed, because the tests call the route handler of the example `nextjs` directly.
const wanted = packages.filter((name) => !name.startsWith('next@'));
execFileSync('npm', ['install', '--no-audit', '--no-fund', ...wanted], {
  cwd: dir,
  stdio: 'inherit',
});
execFileSync(process.env['PYTHON'] ?? 'python3', ['-m', 'venv', venv]);
for (const file of globSync('*/requirements.txt', { cwd: examplesDir })) {
  const requirements = path.join(examplesDir, file);
  execFileSync(path.join(venv, 'bin/pip'), ['install', '--quiet', '-r', requirements]);
}
const { status } = spawnSync(
  path.join(checkoutDir, 'node_modules/.bin/vitest'),
  ['run', 'test/guides'],
  {
    cwd: checkoutDir,
    stdio: 'inherit',
    env: {
      ...process.env,
      GUIDES: 'all',
      EXAMPLES_INSTALLED: dir,
      EXAMPLES_PYTHON: path.join(venv, 'bin/python'),
    },
  },
);
process.stdout.write(
  status === 0
    ? 'All code of the guides and examples ran.\n'
    : 'Code of a guide or an example failed.\n',
);
process.exitCode = status ?? 1;
