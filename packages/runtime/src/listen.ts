import { once } from 'node:events';
import type { Server } from 'node:net';
import { CannotStart, wrongConfigurationStatus } from './run-main.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** The variables that the address comes from. The error names them. */
  readonly variables: { readonly host: string; readonly port: string };
}

/** The errors of an address that another value of the variables may correct. */
const reasons: Readonly<Record<string, (address: ListenAddress) => string>> = {
  EADDRINUSE: ({ host, port, variables }) =>
    `Port ${port} of ${host} is in use by another process. End that process, or set ${variables.port} to a free port.`,
  EACCES: ({ port, variables }) =>
    `This user may not listen on port ${port}. Set ${variables.port} to a port above 1023.`,
  EADDRNOTAVAIL: notOwn,
  ENOTFOUND: notOwn,
  EAI_AGAIN: notOwn,
  EINVAL: notOwn,
};

function notOwn({ host, variables }: ListenAddress): string {
  return `${host} is no address of this machine. Set ${variables.host} to one, or to 0.0.0.0 for all of them.`;
}

/**
 * Listens and returns the port. Throws `CannotStart` with status 2 if the address cannot be used
 * (CONTRACT 9).
 */
export async function listenOrRefuse(server: Server, address: ListenAddress): Promise<number> {
  server.listen(address.port, address.host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const reason = reasons[code]?.(address);
    if (reason === undefined) throw error;
    throw new CannotStart(reason, wrongConfigurationStatus);
  }
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the server has no TCP port');
  return bound.port;
}
