import { nodeAgentCommand } from './node-agent-command.ts';
import type { NodeCredentials } from './provisioning.ts';
import { type Supervision, supervise } from './supervise.ts';

export interface NodeFleet {
  readonly link: string;
  readonly nodes: readonly NodeCredentials[];
  readonly stateDir: string;
  readonly onLine: (nodeId: string, line: string) => void;
}

/** Starts each node as a separate process, and waits until all are connected. */
export async function startSimulatedNodes(
  { link, nodes, stateDir, onLine }: NodeFleet,
  supervision: Supervision,
): Promise<void> {
  const starts = nodes.map((credentials, index) => {
    const name = `node ${index + 1}`;
    const command = nodeAgentCommand({ name, link, credentials, stateDir });
    const onNodeLine = (line: string) => onLine(credentials.nodeId, line);
    return supervise({ ...command, onLine: onNodeLine }, supervision);
  });
  await Promise.all(starts);
}
