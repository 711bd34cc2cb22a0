import { Cluster } from '@kubernetes-models/cloudnative-pg/postgresql.cnpg.io/v1/Cluster';
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject';
import { TriggerAuthentication } from '@kubernetes-models/keda/keda.sh/v1alpha1/TriggerAuthentication';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { Job } from 'kubernetes-models/batch/v1/Job';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Namespace } from 'kubernetes-models/v1/Namespace';
import { Service } from 'kubernetes-models/v1/Service';
import type { Manifest } from './rendered.ts';

const validators: Readonly<Record<string, (manifest: Manifest) => void>> = {
  'apps/v1/Deployment': (manifest) => new Deployment(Object(manifest)).validate(),
  'batch/v1/Job': (manifest) => new Job(Object(manifest)).validate(),
  'keda.sh/v1alpha1/ScaledObject': (manifest) => new ScaledObject(Object(manifest)).validate(),
  'keda.sh/v1alpha1/TriggerAuthentication': (manifest) =>
    new TriggerAuthentication(Object(manifest)).validate(),
  'networking.k8s.io/v1/NetworkPolicy': (manifest) =>
    new NetworkPolicy(Object(manifest)).validate(),
  'policy/v1/PodDisruptionBudget': (manifest) =>
    new PodDisruptionBudget(Object(manifest)).validate(),
  'postgresql.cnpg.io/v1/Cluster': (manifest) => new Cluster(Object(manifest)).validate(),
  'v1/ConfigMap': (manifest) => new ConfigMap(Object(manifest)).validate(),
  'v1/Namespace': (manifest) => new Namespace(Object(manifest)).validate(),
  'v1/Service': (manifest) => new Service(Object(manifest)).validate(),
};

export function schemaComplaint(manifest: Manifest): string | undefined {
  const kind = `${manifest.apiVersion}/${manifest.kind}`;
  const validate = validators[kind];
  if (validate === undefined)
    return `there is no schema of ${kind}; add one to test/kubernetes/validators.ts`;
  try {
    validate(manifest);
    return undefined;
  } catch (error) {
    return `${kind} ${manifest.metadata.name}: ${error instanceof Error ? error.message : String(error)}`;
  }
}
