import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { nodeAgentEntry } from '@svc/local';
import type { Ats } from '../employers/behaviours.ts';
import { startEmployer, type Employer } from '../employers/employer.ts';
import { type AgentProcess, startAgentProcess } from './agent-process.ts';
import { type LinkEnd, startLinkEnd } from './link-end.ts';
import { employers } from './plan.ts';

/** One agent, its employers and the service's side of its link. */
export interface Lane {
  readonly link: LinkEnd;
  readonly stateDir: string;
  readonly homeDir: string;
  employer(ats: Ats): Employer;
  agent(): AgentProcess;
  /** Returns what the agent wrote since the last call. */
  takeLogs(): string;
  /** Starts the agent if it does not run, and waits for its link. */
  revive(): Promise<void>;
  /** Kills the agent. It stays down until `revive`. */
  killAgent(): Promise<void>;
  killBrowsers(): void;
  /**
   * Sets the function that is called at each application that an employer receives. Undefined
   * removes the function.
   */
  onReceipt(act: (() => void) | undefined): void;
  close(): Promise<void>;
}

/**
 * Opens a lane. The agent starts from `bundle`, or from its source if `bug` is given. Throws with
 * the agent's log if the agent ends before it has a link.
 */
export async function openLane({
  binary,
  bundle,
  bug,
  slots,
}: {
  readonly binary: string;
  readonly bundle: string;
  readonly slots: number;
  readonly bug?: string | undefined;
}): Promise<Lane> {
  const baseDir = mkdtempSync(path.join(tmpdir(), 'svc-executor-lane-'));
  const stateDir = path.join(baseDir, 'state');
  const homeDir = mkdtempSync(path.join(baseDir, 'home-'));
  const link = await startLinkEnd();
  let received: (() => void) | undefined;
  const started = new Map<Ats, Employer>();
  for (const { ats, behaviour } of employers) {
    started.set(ats, await startEmployer({ ats, behaviour, onSubmission: () => received?.() }));
  }
  const hosts = new Map([...started.values()].flatMap((one) => [...one.hosts]));
  const options = { link: link.url, stateDir, homeDir, binary, hosts, slots };
  const built = bug === undefined ? { entry: bundle } : { entry: nodeAgentEntry, bug };
  const start = (): AgentProcess => startAgentProcess({ ...options, ...built });
  const ended: AgentProcess[] = [];
  let agent = start();
  await Promise.race([link.linked(), agent.exited]);
  if (!agent.isRunning())
    throw new Error(`the agent ended before it had a link. Its log: ${agent.takeLog()}`);
  return {
    link,
    stateDir,
    homeDir,
    employer(ats) {
      const employer = started.get(ats);
      if (employer === undefined)
        throw new Error(`the employers in test/executor/faults/plan.ts do not have the ATS ${ats}`);
      return employer;
    },
    agent: () => agent,
    takeLogs: () => [...ended.splice(0), agent].map((one) => one.takeLog()).join(''),
    async revive() {
      if (!agent.isRunning()) {
        ended.push(agent);
        agent = start();
      }
      await link.linked();
    },
    async killAgent() {
      await agent.kill();
    },
    killBrowsers() {
      agent.killBrowsers();
    },
    onReceipt(act) {
      received = act;
    },
    async close() {
      await agent.stop();
      await link.close();
      for (const employer of started.values()) await employer.close();
      rmSync(baseDir, { recursive: true, force: true });
    },
  };
}
