import type { Say } from './progress.ts';
import { samePorts } from './same-ports.ts';
import { type ServiceName, serviceEntry, serviceNames } from './service-files.ts';
import type { ReadyLine } from './service-process.ts';
import { type Supervision, supervise } from './supervise.ts';

export interface RunningServices {
  readonly gatewayUrl: string;
  /** The address that nodes connect to (CONTRACT 7). */
  readonly nodeLinkUrl: string;
  readonly adminPorts: Readonly<Record<ServiceName, number>>;
}

/** Starts the four services as separate processes. Throws StartError if one does not start. */
export async function startServices(
  env: NodeJS.ProcessEnv,
  supervision: Supervision,
  say: Say,
): Promise<RunningServices> {
  const start = async (name: ServiceName): Promise<ReadyLine> => {
    const ready = await supervise({ name, entry: serviceEntry(name), env }, supervision, (first) =>
      samePorts(name, first),
    );
    say(`${name}: ${ready.port === undefined ? 'ready' : `ready on port ${ready.port}`}`);
    return ready;
  };
  const started = await Promise.all(
    serviceNames.map(async (name): Promise<[ServiceName, ReadyLine]> => [name, await start(name)]),
  );
  const ready = new Map(started);
  const adminPortOf = (name: ServiceName) => ready.get(name)?.adminPort ?? 0;
  return {
    gatewayUrl: `http://127.0.0.1:${ready.get('gateway')?.port}`,
    nodeLinkUrl: `ws://127.0.0.1:${ready.get('dispatcher')?.port}/node/v1`,
    adminPorts: {
      gateway: adminPortOf('gateway'),
      dispatcher: adminPortOf('dispatcher'),
      settlement: adminPortOf('settlement'),
      webhooks: adminPortOf('webhooks'),
    },
  };
}
