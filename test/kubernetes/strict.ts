import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Manifest } from './rendered.ts';

const checkoutDir = path.resolve(import.meta.dirname, '../..');

function packageOf(group: string): string {
  if (group.startsWith('keda.sh/')) return '@kubernetes-models/keda/';
  if (group.startsWith('postgresql.cnpg.io/')) return '@kubernetes-models/cloudnative-pg/';
  return 'kubernetes-models/';
}

/**
 * Returns the complaints of `tsc` about the manifests, or an empty text. `tsc` also finds members
 * that a kind does not have (decision 43).
 */
export async function strictComplaints(manifests: readonly Manifest[]): Promise<string> {
  const scratch = path.join(checkoutDir, '.local');
  mkdirSync(scratch, { recursive: true });
  const dir = mkdtempSync(path.join(scratch, 'manifests-'));
  try {
    const texts = manifests.map((manifest, index) => {
      const { apiVersion, kind } = manifest;
      const from = `${packageOf(apiVersion)}${apiVersion}/${kind}`;
      return `import type { I${kind} as T${index} } from '${from}';\nexport const m${index}: T${index} = ${JSON.stringify(manifest, null, 1)};\n`;
    });
    const file = path.join(dir, 'manifests.ts');
    writeFileSync(file, texts.join('\n'));
    const config = {
      compilerOptions: {
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        module: 'nodenext',
        moduleResolution: 'nodenext',
        target: 'es2023',
        types: [],
      },
      files: [file],
    };
    const project = path.join(dir, 'tsconfig.json');
    writeFileSync(project, JSON.stringify(config));
    await promisify(execFile)('tsc', ['-p', project], { cwd: checkoutDir });
    return '';
  } catch (error) {
    const printed = error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
    // If `tsc` cannot be started, it prints nothing.
    return printed === '' ? String(error) : printed;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
