import type { NodeCredentials } from './provisioning.ts';
import { nodeAgentEntry } from './service-files.ts';
import { type Supervision, supervise } from './supervise.ts';

export interface NodeFleet {
  readonly link: string;
  readonly nodes: readonly NodeCredentials[];
  readonly env: NodeJS.ProcessEnv;
  /** Told each line of a node's log. */
  readonly onLine: (nodeId: string, line: string) => void;
}

/** Starts each node as its operator would, as a process of its own; its secret is in no command line. */
export async function startSimulatedNodes(
  { link, nodes, env, onLine }: NodeFleet,
  supervision: Supervision,
): Promise<void> {
  const starts = nodes.map(({ nodeId, nodeSecret }, index) =>
    supervise(
      {
        name: `node ${index + 1}`,
        entry: nodeAgentEntry,
        env: { ...env, SVC_NODE_LINK: link, SVC_NODE_ID: nodeId, SVC_NODE_SECRET: nodeSecret },
        onLine: (line) => onLine(nodeId, line),
      },
      supervision,
    ),
  );
  await Promise.all(starts);
}
