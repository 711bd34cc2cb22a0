import { assertInvariant, fromWireId } from '@svc/domain';
import type { TestStack } from '@svc/testkit';
import type { Auditor } from '../model/auditor.ts';

/**
 * The real node agents of a stack. Each is a process with a journal on its disk, and logs `begun`
 * once for each submission that it begins.
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
  const lastRead = Array.from({ length: count }, (): string | undefined => undefined);
  const unreported: { nodeId: string; submissionId: string }[] = [];

  function readLogs(): void {
    for (const [index, last] of lastRead.entries()) {
      const lines = stack.logs('node', index);
      const lastAt = last === undefined ? -1 : lines.lastIndexOf(last);
      assertInvariant(
        last === undefined || lastAt >= 0,
        'the log of an agent still has the line that was read last',
      );
      for (const line of lines.slice(lastAt + 1)) {
        const { msg, nodeId, submissionId }: LogLine = JSON.parse(line);
        if (msg !== 'begun' || nodeId === undefined || submissionId === undefined) continue;
        unreported.push({ nodeId: fromWireId('nod', nodeId) ?? nodeId, submissionId });
      }
      lastRead[index] = lines.at(-1) ?? last;
    }
  }

  return {
    async restart(index) {
      await stack.kill('node', index);
      readLogs();
      await stack.restart('node', index);
      lastRead[index] = undefined;
    },
    report(auditor) {
      readLogs();
      for (const { nodeId, submissionId } of unreported.splice(0))
        auditor.acted(nodeId, submissionId);
    },
  };
}
