import path from 'node:path';
import type { NodeCredentials } from './provisioning.ts';
import { nodeAgentEntry } from './service-files.ts';
import type { ServiceCommand } from './service-process.ts';

export interface NodePlace {
  readonly name: string;
  readonly link: string;
  readonly credentials: NodeCredentials;
  /** Where all nodes of this machine keep what they have in hand, each in a directory of its own. */
  readonly stateDir: string;
}

/** A simulated node may be ended with work in hand: it reports after its next start. */
const drainSeconds = 2;

/**
 * A node agent as its operator runs it: at somebody's home, so that it is given nothing of the
 * services' environment, and its secret is in no command line.
 */
export function nodeAgentCommand({ name, link, credentials, stateDir }: NodePlace): ServiceCommand {
  const { nodeId, nodeSecret } = credentials;
  return {
    name,
    entry: nodeAgentEntry,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      SVC_NODE_LINK: link,
      SVC_NODE_ID: nodeId,
      SVC_NODE_SECRET: nodeSecret,
      SVC_NODE_STATE_DIR: path.join(stateDir, nodeId),
      SVC_NODE_DRAIN_SECONDS: `${drainSeconds}`,
    },
  };
}
