import { readFileSync } from 'node:fs';
import path from 'node:path';
import { waitUntil } from '@svc/testkit';
import { interpolate, readCompose } from '../support/compose.ts';
import type { BaseImage } from './base-images.ts';
import type { Engine } from './engine.ts';

export interface Containers {
  start(service: string, overrides?: Readonly<Record<string, string>>): Promise<void>;
  run(
    service: string,
    words?: readonly string[],
    overrides?: Readonly<Record<string, string>>,
  ): Promise<string>;
  healthy(service: string): Promise<void>;
  inspect(service: string): Promise<Inspected>;
}

interface Inspected {
  readonly State: {
    readonly Pid: number;
    readonly StartedAt: string;
    readonly ExitCode: number;
    readonly Running: boolean;
  };
  readonly HostConfig: { readonly LogConfig: { readonly Path: string } };
}

const network = 'verify';
const subnet = '10.89.77';
/** The address of this process on the network of the containers. */
export const ownAddress = `${subnet}.1`;
const services = readCompose().services;

/**
 * Creates a network without a name server. The network needs none, because `onNetwork` gives each
 * container the addresses of the services.
 */
export async function createNetwork(engine: Engine): Promise<void> {
  const addresses = ['--subnet', `${subnet}.0/24`, '--gateway', ownAddress];
  await engine.podman('network', 'create', '--disable-dns', ...addresses, network);
}

export function addressOf(name: string): string {
  return `${subnet}.${Object.keys(services).indexOf(name) + 10}`;
}

export const onNetwork = [
  '--network',
  network,
  ...Object.keys(services).flatMap((name) => ['--add-host', `${name}:${addressOf(name)}`]),
];

/**
 * The tenant's webhook endpoint has a private address. Without this variable, a service refuses
 * such an endpoint.
 */
export const privateEndpoints = { WEBHOOK_ALLOW_PRIVATE_NETWORKS: '1' };
const healthyMsMax = 120_000;

function serviceOf(name: string) {
  const service = services[name];
  if (service === undefined) throw new Error(`the compose file has no service ${name}`);
  return service;
}

/** `env` contains the variables that an operator sets in `.env`. */
export function openContainers(
  engine: Engine,
  images: readonly BaseImage[],
  env: Readonly<Record<string, string>>,
): Containers {
  const { secrets } = readCompose();
  const imageOf = (image: string) =>
    images.find(({ pinned }) => pinned === image)?.used ?? `localhost/${image}`;
  const secretFile = (secret: string) => interpolate(secrets[secret]?.file ?? '', env);

  /** Translates a service of the compose file into the arguments of `podman run`. */
  function words(name: string, overrides: Readonly<Record<string, string>> = {}): string[] {
    const service = serviceOf(name);
    const { entrypoint, stop_grace_period: grace } = service;
    const environment = Object.entries({ ...service.environment, ...overrides });
    return [
      '--cgroups',
      'disabled',
      ...onNetwork,
      '--ip',
      addressOf(name),
      '--log-driver',
      'k8s-file',
      ...(service.init === true ? ['--init'] : []),
      // As in Docker, no tmpfs is mounted into a read-only root.
      ...(service.read_only === true ? ['--read-only', '--read-only-tmpfs=false'] : []),
      ...(service.cap_drop ?? []).flatMap((one) => ['--cap-drop', one]),
      ...(service.security_opt ?? []).flatMap((one) => [
        '--security-opt',
        one.replace(/:true$/, ''),
      ]),
      ...(grace === undefined ? [] : ['--stop-timeout', grace.replace('s', '')]),
      ...environment.flatMap(([key, value]) => ['--env', `${key}=${interpolate(value, env)}`]),
      ...(service.secrets ?? []).flatMap((secret) => [
        '--volume',
        `${secretFile(secret)}:/run/secrets/${secret}:ro`,
      ]),
      ...(service.volumes ?? []).flatMap((volume) => ['--volume', volume]),
      ...(entrypoint === undefined ? [] : ['--entrypoint', JSON.stringify(entrypoint)]),
      imageOf(service.image),
      // In the compose file, `$$` is one dollar sign.
      ...(service.command ?? []).map((word) => word.replaceAll('$$', '$')),
    ];
  }

  const inspect = async (name: string): Promise<Inspected> =>
    JSON.parse(await engine.podman('container', 'inspect', name))[0];

  return {
    inspect,
    async start(name, overrides) {
      await engine.podman('run', '--detach', '--name', name, ...words(name, overrides));
    },
    run: (name, more = [], overrides) =>
      engine.podman('run', '--rm', ...words(name, overrides), ...more),
    async healthy(name) {
      // Without systemd, podman does not repeat health checks, so the check's command runs here.
      // The first word of `test` is the kind of the check, for example `CMD`.
      const [kind, ...command] = serviceOf(name).healthcheck?.test ?? [];
      if (kind !== 'CMD')
        throw new Error(`the health check of ${name} in the compose file must start with CMD`);
      const ask = () => engine.podman('exec', name, ...command).then(() => true);
      await waitUntil(ask, { what: `${name} to be healthy`, timeoutMs: healthyMsMax });
    },
  };
}

/** Returns the id of the service's process, which is a child of the container's init process. */
export async function processOf(containers: Containers, name: string): Promise<number> {
  const { State: state } = await containers.inspect(name);
  const file = path.join('/proc', `${state.Pid}`, 'task', `${state.Pid}`, 'children');
  const [child] = readFileSync(file, 'utf8').trim().split(' ');
  return Number(child);
}
