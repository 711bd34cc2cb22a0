import { fromWireId } from '@svc/domain';
import type { TestStack } from '@svc/testkit';
import type { Auditor } from '../model/auditor.ts';

/**
 * The real node agents of a stack. Each is a process with a journal on its disk. An agent logs
 * `begun` once for each submission that it begins, and these logs are read.
 */
export interface Agents {
  /** Kills the agent with `kill -9`, and at once starts another process on the same journal. */
  restart(index: number): Promise<void>;
  /** Reports to the auditor each submission that an agent began since the last call. */
  report(auditor: Auditor): void;
}

interface LogLine {
  readonly msg?: string;
  readonly nodeId?: string;
  readonly submissionId?: string;
}

export function watchAgents(stack: TestStack, count: number): Agents {
  /** The number of log lines read of each agent. */
  const read = Array.from({ length: count }, () => 0);
  const unreported: { nodeId: string; submissionId: string }[] = [];

  function readLogs(): void {
    for (const index of read.keys()) {
      const lines = stack.logs('node', index);
      for (const line of lines.slice(read[index])) {
        const { msg, nodeId, submissionId }: LogLine = JSON.parse(line);
        if (msg !== 'begun' || nodeId === undefined || submissionId === undefined) continue;
        unreported.push({ nodeId: fromWireId('nod', nodeId) ?? nodeId, submissionId });
      }
      read[index] = lines.length;
    }
  }

  return {
    async restart(index) {
      await stack.kill('node', index);
      readLogs();
      await stack.restart('node', index);
      read[index] = 0;
    },
    report(auditor) {
      readLogs();
      for (const { nodeId, submissionId } of unreported.splice(0))
        auditor.acted(nodeId, submissionId);
    },
  };
}
