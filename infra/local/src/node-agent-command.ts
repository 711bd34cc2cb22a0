import path from 'node:path';
import type { NodeCredentials } from './provisioning.ts';
import { nodeAgentEntry } from './service-files.ts';
import type { ServiceCommand } from './service-process.ts';

export interface NodePlace {
  readonly name: string;
  readonly link: string;
  readonly credentials: NodeCredentials;
  readonly stateDir: string;
}

/**
 * The seconds that a node may take to drain. Two are enough, because a node reports its unfinished
 * submissions after its next start.
 */
const drainSeconds = 2;

/**
 * The command of a node agent, without the environment of the services. The node is simulated
 * unless the caller adds a flag such as `--executor=browser`.
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
      SVC_NODE_EXECUTOR: 'simulated',
      SVC_NODE_ID: nodeId,
      SVC_NODE_SECRET: nodeSecret,
      SVC_NODE_STATE_DIR: path.join(stateDir, nodeId),
      SVC_NODE_DRAIN_SECONDS: `${drainSeconds}`,
    },
  };
}
