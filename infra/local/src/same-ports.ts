import type { ReadyLine } from './service-process.ts';
import type { ServiceName } from './service-files.ts';

/** Which variable says where a service listens; the others have an admin port only. */
const portVariable: Partial<Record<ServiceName, string>> = {
  gateway: 'GATEWAY_PORT',
  dispatcher: 'NODE_LINK_PORT',
};

/** The environment under which a service that is started again is found where it was. */
export function samePorts(service: ServiceName, { port, adminPort }: ReadyLine): NodeJS.ProcessEnv {
  const variable = portVariable[service];
  return {
    ...(variable === undefined || port === undefined ? {} : { [variable]: `${port}` }),
    ...(adminPort === undefined ? {} : { ADMIN_PORT: `${adminPort}` }),
  };
}
