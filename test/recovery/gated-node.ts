import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { NodeCredentials } from '@svc/local';
import { type Executor, openHistory, openJournal, startAgent } from '@svc/node-agent';
import { waitUntil } from '@svc/testkit';
import { onTestFinished } from 'vitest';

/** A real node agent. Each job runs until the test calls `complete` or `close`. */
export interface GatedNode {
  ran(title: string): number;
  /** Waits until the job runs, then lets it complete. */
  complete(title: string): Promise<void>;
  running(title: string): Promise<void>;
  /** Ends the agent as a restart does. A job that still runs has no outcome. */
  close(): Promise<void>;
}

interface Payload {
  readonly jobContext: { readonly title: string };
}

/** The directory is deleted after the test. */
export function createStateDir(): string {
  const stateDir = mkdtempSync(path.join(tmpdir(), 'svc-gated-node-'));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  return stateDir;
}

export async function startGatedNode(
  link: string,
  { nodeId, nodeSecret: secret }: NodeCredentials,
  stateDir = createStateDir(),
): Promise<GatedNode> {
  const runs = new Map<string, number>();
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const executor: Executor = {
    jobType: 'ats.application',
    name: 'gated',
    version: '1',
    async run({ payloadText }) {
      const { jobContext }: Payload = JSON.parse(payloadText);
      const { title } = jobContext;
      runs.set(title, (runs.get(title) ?? 0) + 1);
      const gate = Promise.withResolvers<void>();
      gates.set(title, gate);
      await gate.promise;
      return { confirmationId: title };
    },
  };
  const [journal, history] = [await openJournal(stateDir), await openHistory(stateDir)];
  const agent = startAgent({
    link,
    nodeId,
    secret,
    slots: 20,
    executors: [executor],
    journal,
    history,
    log: () => {},
    random: () => 0,
  });
  const running = async (title: string) => {
    await waitUntil(async () => gates.has(title), { what: `${title} to run`, timeoutMs: 20_000 });
  };
  return {
    ran: (title) => runs.get(title) ?? 0,
    running,
    async complete(title) {
      await running(title);
      gates.get(title)?.resolve();
    },
    async close() {
      const closed = agent.close();
      for (const gate of gates.values()) gate.resolve();
      await closed;
      await history.close();
      await journal.close();
    },
  };
}
