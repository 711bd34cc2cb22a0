import { EventEmitter, once } from 'node:events';
import { parseLogLine } from './service-process.ts';

export interface NodeWatch {
  readonly readLine: (nodeId: string, line: string) => void;
  /**
   * Returns the id of the node that got the submission. Undefined if no node logs the assignment
   * within `timeoutMs`.
   */
  assignedNode(submissionId: string, timeoutMs: number): Promise<string | undefined>;
}

/** The message that a node logs for an assignment (packages/node-agent). */
const assignedMessage = 'assigned';
const submissionsMax = 1_000;

export function createNodeWatch(): NodeWatch {
  const nodes = new Map<string, string>();
  const assignments = new EventEmitter();
  return {
    readLine(nodeId, line) {
      const entry = parseLogLine(line);
      if (entry?.['msg'] !== assignedMessage) return;
      const submissionId = String(entry['submissionId']);
      nodes.set(submissionId, nodeId);
      const [oldest] = nodes.keys();
      if (nodes.size > submissionsMax && oldest !== undefined) nodes.delete(oldest);
      assignments.emit(submissionId);
    },
    async assignedNode(submissionId, timeoutMs) {
      if (!nodes.has(submissionId)) {
        const signal = AbortSignal.timeout(timeoutMs);
        await once(assignments, submissionId, { signal }).catch(() => {});
      }
      return nodes.get(submissionId);
    },
  };
}
