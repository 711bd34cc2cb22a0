import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { imagesIn, pinned } from './base-images.ts';

/**
 * `pnpm images:pin` writes the current digest of each base image after its tag. `--check` changes
 * nothing, and exits with 1 if a digest is missing.
 */
const files = ['infra/docker/Dockerfile', 'docker-compose.yml'];

function digestOf(image: string): string {
  const words = ['buildx', 'imagetools', 'inspect', '--format', '{{.Manifest.Digest}}', image];
  const digest = execFileSync('docker', words, { encoding: 'utf8' }).trim();
  if (!/^sha256:[0-9a-f]{64}$/.test(digest))
    throw new Error(`the registry reports no digest for ${image}`);
  return digest;
}

const texts = files.map((file) => readFileSync(file, 'utf8'));
const found = texts.flatMap(imagesIn);
if (process.argv.includes('--check')) {
  const loose = new Set(found.flatMap(({ image, digest }) => (digest === null ? [image] : [])));
  for (const image of loose) process.stdout.write(`${image} has no digest. Run pnpm images:pin.\n`);
  process.exitCode = loose.size === 0 ? 0 : 1;
} else {
  const images = [...new Set(found.map(({ image }) => image))];
  const digests = new Map(images.map((image) => [image, digestOf(image)]));
  for (const [index, file] of files.entries()) {
    writeFileSync(file, pinned(texts[index] ?? '', digests));
  }
  for (const [image, digest] of digests) process.stdout.write(`${image}@${digest}\n`);
}
