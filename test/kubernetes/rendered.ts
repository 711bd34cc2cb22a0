import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';

export const kubernetesDir = path.resolve(import.meta.dirname, '../../infra/kubernetes');
export const overlays = ['sandbox', 'production', 'production-solana'] as const;
export type Overlay = (typeof overlays)[number];

export function renderedFile(overlay: Overlay): string {
  return path.join(kubernetesDir, 'rendered', `${overlay}.yaml`);
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

function sourcesHash(): string {
  const files = globSync('{base,components,overlays}/**/*.yaml', { cwd: kubernetesDir }).toSorted();
  const texts = files.map(
    (file) => `${file}\n${readFileSync(path.join(kubernetesDir, file), 'utf8')}`,
  );
  return sha256(texts.join('\n'));
}

/**
 * Adds a header with hashes of the kustomize sources and of `manifests`. A test uses the hashes to
 * find manifests that are out of date or were edited (decision 43).
 */
export function withHeader(manifests: string): string {
  return `# Built by \`pnpm manifests\`. Sources: ${sourcesHash()}\n# Manifests: ${sha256(manifests)}\n${manifests}`;
}

export function manifestsIn(text: string): string {
  return text.split('\n').slice(2).join('\n');
}

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

export function parseManifests(text: string): Manifest[] {
  return parseAllDocuments(text).map((document): Manifest => document.toJS());
}

export function readManifests(overlay: Overlay): Manifest[] {
  return parseManifests(readFileSync(renderedFile(overlay), 'utf8'));
}
