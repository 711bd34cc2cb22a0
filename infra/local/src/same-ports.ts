import type { ServiceName } from './service-files.ts';
import type { ReadyLine } from './service-process.ts';

/**
 * The variables that set the ports of the gateway and the dispatcher. The other services have only
 * an admin port.
 */
const portVariable: Partial<Record<ServiceName, string>> = {
  gateway: 'GATEWAY_PORT',
  dispatcher: 'NODE_LINK_PORT',
};

export function samePorts(service: ServiceName, { port, adminPort }: ReadyLine): NodeJS.ProcessEnv {
  const variable = portVariable[service];
  return {
    ...(variable === undefined || port === undefined ? {} : { [variable]: `${port}` }),
    ...(adminPort === undefined ? {} : { ADMIN_PORT: `${adminPort}` }),
  };
}
