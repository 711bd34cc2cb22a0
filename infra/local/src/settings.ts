import { isPortFree } from './ports.ts';
import { StartError } from './start-error.ts';

/**
 * The settings of the embedded stack, which the launcher reads from environment variables
 * (CONTRACT 9).
 */
export interface Settings {
  readonly databaseUrl: string | undefined;
  readonly migrationDatabaseUrl: string | undefined;
  readonly redisUrl: string | undefined;
  readonly gatewayPort: number;
  readonly nodeLinkPort: number;
  readonly simulatedNodes: number;
  readonly isDemoWanted: boolean;
  readonly isSolanaDemoWanted: boolean;
}

const portMax = 65_535;
const simulatedNodesMax = 64;

/**
 * Reads the settings. Throws StartError if `SVC_ENVIRONMENT` is set to another value than
 * `sandbox`, or if a number is invalid. The URLs are not checked.
 */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const environment = env['SVC_ENVIRONMENT'] || 'sandbox';
  if (environment !== 'sandbox') {
    throw new StartError(
      `SVC_ENVIRONMENT is ${environment}, but npm start runs a sandbox with simulated nodes.`,
      'Unset SVC_ENVIRONMENT, or run the services yourself. docs/OPERATIONS.md describes how.',
    );
  }
  return {
    databaseUrl: env['DATABASE_URL'] || undefined,
    migrationDatabaseUrl: env['MIGRATION_DATABASE_URL'] || undefined,
    redisUrl: env['REDIS_URL'] || undefined,
    gatewayPort: wholeNumber(env, 'GATEWAY_PORT', { byDefault: 8080, max: portMax }),
    nodeLinkPort: wholeNumber(env, 'NODE_LINK_PORT', { byDefault: 8081, max: portMax }),
    simulatedNodes: wholeNumber(env, 'SVC_SIMULATED_NODES', {
      byDefault: 2,
      max: simulatedNodesMax,
    }),
    isDemoWanted: wholeNumber(env, 'SVC_DEMO', { byDefault: 1, max: 1 }) === 1,
    isSolanaDemoWanted: wholeNumber(env, 'SOLANA_DEMO', { byDefault: 0, max: 1 }) === 1,
  };
}

function wholeNumber(
  env: NodeJS.ProcessEnv,
  name: string,
  { byDefault, max }: { readonly byDefault: number; readonly max: number },
): number {
  const text = env[name];
  if (!text) return byDefault;
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= max) return value;
  throw new StartError(`${name} is ${text}.`, `Set it to a whole number from 0 to ${max}.`);
}

/**
 * Throws StartError if the port of the gateway or of the node link is not free. Port 0 stands for
 * any free port.
 */
export async function assertPortsFree({ gatewayPort, nodeLinkPort }: Settings): Promise<void> {
  const wanted = { GATEWAY_PORT: gatewayPort, NODE_LINK_PORT: nodeLinkPort };
  for (const [name, port] of Object.entries(wanted)) {
    if (port === 0 || (await isPortFree(port))) continue;
    throw new StartError(
      `The stack cannot listen on port ${port} of 127.0.0.1.`,
      `If another program uses this port, stop it. Or take any free port: ${name}=0 npm start.`,
    );
  }
}
