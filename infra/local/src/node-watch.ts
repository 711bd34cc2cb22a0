import { EventEmitter, once } from 'node:events';
import { parseLogLine } from './service-process.ts';

/** What the simulated nodes say of the submissions that they run, from their logs. */
export interface NodeWatch {
  readonly hear: (nodeId: string, line: string) => void;
  /** The node that was assigned the submission; undefined where none says so in time. */
  assignedNode(submissionId: string, timeoutMs: number): Promise<string | undefined>;
}

/** The log line by which a node says that it was assigned a submission (packages/node-agent). */
const assignedMessage = 'assigned';
/** More than any demo needs; the oldest are forgotten. */
const submissionsMax = 1_000;

export function createNodeWatch(): NodeWatch {
  const nodes = new Map<string, string>();
  const assignments = new EventEmitter();
  return {
    hear(nodeId, line) {
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
