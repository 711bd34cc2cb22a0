import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runCommand } from '@svc/local';
import { imagesIn } from '../../infra/local/src/base-images.ts';
import { readCompose } from '../support/compose.ts';
import { openBaseImages } from './base-images.ts';
import { check, imageBytesMax, megabyte, say } from './checks.ts';
import { contentFaults } from './contents.ts';
import { openEngine } from './engine.ts';

/**
 * Builds the image, and checks its size, its user and its files. The argument is the folder for the
 * state of the engine and for the results.
 */
const [dir = ''] = process.argv.slice(2);
const engine = openEngine(dir);
const dockerfile = 'infra/docker/Dockerfile';
const { services } = readCompose();
const own = services['gateway']?.image ?? '';
const [base] = imagesIn(readFileSync(dockerfile, 'utf8'));
if (base === undefined) throw new Error('the Dockerfile has no base image');
const pinned = [`${base.image}@${base.digest}`, services['postgres'], services['redis']].map(
  (one) => (typeof one === 'string' ? one : (one?.image ?? '')),
);
const images = await openBaseImages(engine, dir, pinned);
writeFileSync(path.join(dir, 'images.json'), JSON.stringify(images));

const startedMs = performance.now();
const from = images.find((one) => one.pinned === pinned[0])?.used ?? '';
const log = await engine.buildah(
  'bud',
  '--from',
  from,
  '--file',
  dockerfile,
  '--tag',
  own,
  '--format',
  'docker',
  '.',
);
writeFileSync(path.join(dir, 'build.log'), log);
const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
check('the Dockerfile builds', true, `${seconds} s`);

const [inspected] = JSON.parse(await engine.podman('image', 'inspect', own));
const bytes: number = inspected.Size;
check(
  'the image must have at most 250 MB',
  bytes <= imageBytesMax,
  `${(bytes / megabyte).toFixed(0)} MB`,
);
const user: string = inspected.Config.User;
check(
  'the user of the image must not be root',
  /^[1-9]\d*:[1-9]\d*$/.test(user),
  user === '' ? 'root' : user,
);

const container = await engine.buildah('from', '--pull=never', own);
const root = await engine.buildah('mount', container);
const found = await runCommand(['find', root, '-type', 'f', '-printf', '%U /%P\n']);
const files = found.trimEnd().split('\n');
const faults = contentFaults(files.map((line) => line.slice(line.indexOf('/'))));
for (const fault of faults) say(`        ${fault}`);
check(
  'the image must contain the files that its processes need, and none that contents.ts refuses',
  faults.length === 0,
  `${files.length} files`,
);
const foreign = files.filter((line) => !line.startsWith('0 '));
check('all files must belong to root', foreign.length === 0, `${foreign.length} files do not`);
await engine.buildah('rm', container);
