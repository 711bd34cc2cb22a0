import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { testMasterKey } from '@svc/testkit';
import type { Manifest } from './rendered.ts';

/** The types of this file have only some members of the manifests. */

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
export interface Container {
  readonly args: readonly string[];
  readonly envFrom: readonly {
    readonly configMapRef?: { readonly name: string };
    readonly secretRef?: { readonly name: string };
  }[];
  readonly env: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
  }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly lifecycle?: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly securityContext: object;
}
export interface Workload extends Manifest {
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly containers: readonly [Container];
        readonly terminationGracePeriodSeconds: number;
      };
    };
  };
}
interface ConfigMap extends Manifest {
  readonly data: Readonly<Record<string, string>>;
}
interface Policy {
  readonly value: number;
  readonly periodSeconds: number;
}
export interface Scaled extends Manifest {
  readonly spec: {
    readonly scaleTargetRef: { readonly name: string };
    readonly maxReplicaCount: number;
    readonly advanced: {
      readonly horizontalPodAutoscalerConfig: {
        readonly behavior: {
          readonly scaleDown: {
            readonly stabilizationWindowSeconds: number;
            readonly policies: readonly Policy[];
          };
        };
      };
    };
    readonly triggers: readonly {
      readonly type: string;
      readonly metadata: Readonly<Record<string, string>>;
    }[];
  };
}

export function ofKind<T extends Manifest>(manifests: readonly Manifest[], kind: string): T[] {
  return manifests.filter((one): one is T => one.kind === kind);
}

export function named<T extends Manifest>(manifests: readonly T[], name: string): T {
  const found = manifests.find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`there is no manifest with the name ${name}`);
  return found;
}

export function containerOf(workload: Workload): Container {
  return workload.spec.template.spec.containers[0];
}

const secrets: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgresql://svc:secret@svc-postgres-rw:5432/svc',
  MIGRATION_DATABASE_URL: 'postgresql://svc_owner:secret@svc-postgres-rw:5432/svc',
  REDIS_URL: 'redis://:secret@valkey:6379',
};

/**
 * Returns the environment variables of a container, without those of a `secretRef`. The caller must
 * remove `dir`, which contains the file of the master key.
 */
export function environmentOf(
  manifests: readonly Manifest[],
  container: Container,
): { readonly environment: Record<string, string>; readonly dir: string } {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-kubernetes-'));
  writeFileSync(path.join(dir, 'master_key'), `${testMasterKey()}\n`);
  const given = container.envFrom.flatMap(({ configMapRef }) =>
    configMapRef === undefined
      ? []
      : Object.entries(named(ofKind<ConfigMap>(manifests, 'ConfigMap'), configMapRef.name).data),
  );
  // The value of a `secretKeyRef` comes from `secrets`.
  const own = container.env.map(({ name, value }) => [name, value ?? secrets[name] ?? '']);
  const environment: Record<string, string> = Object.fromEntries([...given, ...own]);
  const file = environment['SVC_MASTER_KEY_FILE'] ?? '';
  return {
    environment: { ...environment, SVC_MASTER_KEY_FILE: file.replace('/run/secrets/svc', dir) },
    dir,
  };
}
