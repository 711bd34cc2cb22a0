import { randomBytes } from 'node:crypto';
import { chownSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { serviceNames } from '@svc/local';
import { check } from './checks.ts';
import { addressOf, createNetwork, openContainers, privateEndpoints } from './containers.ts';
import { checkDrain } from './drain.ts';
import { openEngine } from './engine.ts';
import { checkRights, checkStart } from './measured.ts';
import { checkSubmission } from './tenant.ts';

/**
 * Runs the services of the compose file in containers, and checks them. The argument is the folder
 * in which `build.ts` built the image.
 */
const [dir = ''] = process.argv.slice(2);
const engine = openEngine(dir);
const keyFile = path.join(dir, 'master-key');
writeFileSync(keyFile, `verify:${randomBytes(32).toString('base64')}\n`, { mode: 0o400 });
chownSync(keyFile, 1000, 1000);
const password = () => randomBytes(12).toString('hex');
const images = JSON.parse(readFileSync(path.join(dir, 'images.json'), 'utf8'));
const containers = openContainers(engine, images, {
  POSTGRES_PASSWORD: password(),
  SVC_DATABASE_PASSWORD: password(),
  REDIS_PASSWORD: password(),
  SVC_MASTER_KEY_FILE: keyFile,
});

await createNetwork(engine);
for (const server of ['postgres', 'redis']) {
  await containers.start(server);
  await containers.healthy(server);
}
const migrated = (await containers.run('migrate')).split(', ');
check('migrate exits with 0', true, `${migrated.length} migrations`);

for (const name of serviceNames) {
  const isOutbound = name === 'gateway' || name === 'webhooks';
  await containers.start(name, isOutbound ? privateEndpoints : {});
  await checkStart(containers, name);
}
for (const name of serviceNames) {
  await containers.healthy(name);
  check(`${name} is healthy`, true, 'its health check succeeds');
  await checkRights(containers, engine, name);
}

for (const page of ['/docs/guides/quick-start', '/docs/changelog', '/openapi.json']) {
  const { status } = await fetch(`http://${addressOf('gateway')}:8080${page}`);
  check(`${page} is served`, status === 200, `status ${status}`);
}
const tenant = await checkSubmission(engine, containers);
const status = await engine.podman('exec', 'gateway', 'svc', 'status', '--json');
check('svc runs in the container of a service', status.startsWith('{'), `${status.length} bytes`);
await checkDrain({ engine, containers, tenant });
await tenant.receiver.close();
// Close the channel to the parent process. The results that `check` has already sent still arrive.
process.disconnect?.();
