import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { kubectlBinary } from '@svc/local';
import { kubernetesDir, overlays, parseManifests, renderedFile, withHeader } from './rendered.ts';
import { strictComplaints } from './strict.ts';

/**
 * `pnpm manifests [--check]`: builds each overlay, and writes it if `tsc` has no complaint
 * (decision 43). `--check` writes nothing, and also fails if a file is out of date.
 */
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const say = (line: string) => void process.stdout.write(`${line}\n`);
const kubectl = await kubectlBinary(() => say('fetching kubectl from the Debian packages'));
let count = 0;
let faults = 0;
for (const overlay of overlays) {
  const directory = path.join(kubernetesDir, 'overlays', overlay);
  const { stdout } = await promisify(execFile)(kubectl, ['kustomize', directory]);
  const manifests = parseManifests(stdout);
  const complaints = await strictComplaints(manifests);
  const file = renderedFile(overlay);
  const built = withHeader(stdout);
  const isSame = existsSync(file) && readFileSync(file, 'utf8') === built;
  count += manifests.length;
  if (complaints !== '') faults += 1;
  if (values.check && !isSame) faults += 1;
  say(`${overlay}: ${manifests.length} manifests, ${isSame ? 'unchanged' : 'changed'}`);
  if (complaints !== '') say(complaints);
  if (values.check || isSame || complaints !== '') continue;
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, built);
}
say(`manifests: ${overlays.length} overlays, ${count} manifests, ${faults} faults`);
process.exitCode = faults === 0 ? 0 : 1;
