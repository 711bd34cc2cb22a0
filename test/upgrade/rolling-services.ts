import path from 'node:path';
import {
  type ServiceName,
  type ServiceProcess,
  samePorts,
  serviceEntry,
  startServiceProcess,
} from '@svc/local';
import { entryUnderTest } from '@svc/testkit';

/** Returns the path of a service's main file, in this checkout or in a former build. */
export type EntryOf = (service: ServiceName) => string;

export const presentEntry: EntryOf = (service) => entryUnderTest(serviceEntry(service));

export function formerEntry(directory: string): EntryOf {
  return (service) => path.join(directory, 'services', service, 'src/main.ts');
}

export interface RollingServices {
  readonly gatewayUrl: string;
  readonly nodeLinkUrl: string;
  /**
   * Restarts the services of `order`, one after another, with the program that `entryOf` names. The
   * old process of a service stops before its new one starts.
   */
  roll(entryOf: EntryOf, order: readonly ServiceName[]): Promise<void>;
  stop(): Promise<void>;
}

export async function startRollingServices(
  entryOf: EntryOf,
  services: readonly ServiceName[],
  env: NodeJS.ProcessEnv,
): Promise<RollingServices> {
  const running = new Map<ServiceName, ServiceProcess>();
  const start = async (service: ServiceName, entry: string, ports: NodeJS.ProcessEnv = {}) => {
    const process = { name: service, entry, env: { ...env, ...ports } };
    running.set(service, await startServiceProcess(process));
  };
  const stop = async () => {
    await Promise.all([...running.values()].map((one) => one.stop()));
  };
  try {
    await Promise.all(services.map((service) => start(service, entryOf(service))));
  } catch (error) {
    await stop();
    throw error;
  }
  const portOf = (service: ServiceName) => running.get(service)?.ready.port;
  return {
    gatewayUrl: `http://127.0.0.1:${portOf('gateway')}`,
    nodeLinkUrl: `ws://127.0.0.1:${portOf('dispatcher')}/node/v1`,
    async roll(next, order) {
      for (const service of order) {
        const old = running.get(service);
        if (old === undefined) continue;
        await old.stop();
        await start(service, next(service), samePorts(service, old.ready));
      }
    },
    stop,
  };
}
