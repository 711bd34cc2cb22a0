import { fromWireId } from '@svc/domain';
import type { TestStack } from '@svc/testkit';
import type { Auditor } from '../model/auditor.ts';

/**
 * The real node agents of a stack, each a process with a journal on its disk. What they do is read
 * from their logs, where each says once that it has begun a submission.
 */
export interface Agents {
  /** kill -9, and at once another process on the same journal. */
  restart(index: number): Promise<void>;
  /** Tells the auditor who has acted since the last time. */
  report(auditor: Auditor): void;
}

interface LogLine {
  readonly msg?: string;
  readonly nodeId?: string;
  readonly submissionId?: string;
}

export function watchAgents(stack: TestStack, count: number): Agents {
  /** How many lines of each have been read. */
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
