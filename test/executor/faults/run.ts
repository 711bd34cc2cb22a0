import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { toWireId } from '@svc/domain';
import { newId } from '@svc/runtime';
import { createApplicant, type Applicant } from '../employers/applicant.ts';
import type { Employer } from '../employers/employer.ts';
import { payloadTextOf } from '../run-job.ts';
import { canariesIn } from './canaries.ts';
import type { Lane } from './lane.ts';
import type { Ended } from './link-end.ts';
import type { RunPlan } from './plan.ts';

export interface PlannedRun {
  readonly plan: RunPlan;
  /** Distinguishes the applicant from those of other runs. */
  readonly tag: string;
  /**
   * The duration of the lane's last undisturbed run with the same ATS, in milliseconds. If there is
   * none, `usualMsDefault` of `trial.ts`.
   */
  readonly usualMs: number;
}

export interface RunReport {
  readonly plan: RunPlan;
  /** `lost` also stands for a submission that did not end within `endedMsMax`. */
  readonly ended: Ended;
  /**
   * The milliseconds from `begin` to the end of the submission. About 0 if it ended before `begin`,
   * and about `endedMsMax` if it did not end in time.
   */
  readonly durationMs: number;
  readonly received: number;
  readonly violations: readonly string[];
  /** Counts the received applications again, because one may arrive after the outcome. */
  countAgain(): number;
}

const endedMsMax = 150_000;

function countOf(employer: Employer, { answers }: Applicant): number {
  const email = answers.get('email');
  const text = email?.kind === 'text' ? email.text : '';
  return employer
    .submissions()
    .filter(({ fields }) => Object.values(fields).some((values) => values.includes(text))).length;
}

/**
 * Calls `act` once, when the journal of the submission has recorded `submitting`. Returns a
 * function that ends the watch.
 */
function watchSubmitting({ stateDir }: Lane, submissionId: string, act: () => void): () => void {
  let isDone = false;
  const look = async (): Promise<void> => {
    const text = await readFile(path.join(stateDir, `${submissionId}.begun`), 'utf8').catch(
      () => '',
    );
    if (isDone || !text.includes('"submitting"')) return;
    isDone = true;
    act();
  };
  const watcher = watch(stateDir, () => void look());
  return () => {
    isDone = true;
    watcher.close();
  };
}

async function strike(lane: Lane, { target, againAfterMs }: RunPlan): Promise<void> {
  if (target === 'link') lane.link.cut();
  if (target === 'browser' || target === 'both') lane.killBrowsers();
  if (target === 'agent' || target === 'both') await lane.killAgent();
  for (const afterMs of againAfterMs) {
    const revived = lane.revive();
    await Promise.race([revived, wait(afterMs)]);
    await lane.killAgent();
  }
  await lane.revive();
}

/**
 * Strikes the target at the moment in the plan, at most once, and never if the target is `none`.
 * `stop` cancels a strike that has not begun, and waits for one that has begun.
 */
function planStrike(lane: Lane, { plan, submissionId, usualMs }: Prepared) {
  let struck: Promise<void> | undefined;
  const act = (): void => {
    if (plan.target !== 'none') struck ??= strike(lane, plan);
  };
  const { moment } = plan;
  const timers: NodeJS.Timeout[] = [];
  const later = (ms: number): void => {
    if (ms === 0) act();
    else timers.push(setTimeout(act, ms));
  };
  let stopWatch: (() => void) | undefined;
  if (moment.kind === 'time') later(moment.fraction * usualMs);
  else if (moment.kind === 'receipt') lane.onReceipt(() => later(moment.delayMs));
  else stopWatch = watchSubmitting(lane, submissionId, () => later(moment.delayMs));
  return {
    async stop(): Promise<void> {
      stopWatch?.();
      lane.onReceipt(undefined);
      for (const timer of timers) clearTimeout(timer);
      await struck;
    },
  };
}

/**
 * The violations of CONTRACT 10, "At most once". If no application arrived, a failure that no fault
 * explains counts too.
 */
function violationsOf(ended: Ended, received: number): string[] {
  if (received > 1) return [`the employer received the application ${received} times`];
  if (ended.type === 'completed' && received === 0)
    return ['the node reported completed, but no application arrived'];
  if (ended.type !== 'failed') return [];
  const { code, message, submitted } = ended.failure;
  if (received === 0) {
    // The forms and the applicants are correct, so only the node or its connection to the site can
    // fail.
    return ['node_error', 'site_unreachable'].includes(code) ? [] : [`${code}: ${message}`];
  }
  if (submitted === false)
    return [`the node reported ${code} with submitted: false, but the application arrived`];
  return code === 'site_unreachable'
    ? ['the node reported site_unreachable, but the application arrived']
    : [];
}

async function endedInTime(lane: Lane, submissionId: string): Promise<Ended | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), endedMsMax);
  try {
    return await Promise.race([lane.link.ended(submissionId), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

interface Prepared extends PlannedRun {
  readonly employer: Employer;
  readonly applicant: Applicant;
  readonly submissionId: string;
  readonly payloadText: string;
}

function prepare(lane: Lane, run: PlannedRun): Prepared {
  const employer = lane.employer(run.plan.ats);
  const applicant = createApplicant(run.tag);
  const submissionId = toWireId('sub', newId());
  const payloadText = payloadTextOf(employer.url, run.plan.ats, applicant.profile);
  return { ...run, employer, applicant, submissionId, payloadText };
}

/**
 * Runs all of `runs` concurrently on the lane's agent. Only the strike in the first run's plan
 * happens. It hits all runs that the agent has at that moment.
 */
export async function runTogether(lane: Lane, runs: readonly PlannedRun[]): Promise<RunReport[]> {
  await lane.revive();
  const prepared = runs.map((run) => prepare(lane, run));
  const [first] = prepared;
  if (first === undefined) return [];
  await lane.link.assign(first.submissionId, first.payloadText);
  const planned = planStrike(lane, first);
  const ends = await Promise.all(
    prepared.map(async ({ submissionId, payloadText, plan }, index) => {
      if (index > 0) {
        await wait(plan.assignedAfterMs);
        await lane.link.assign(submissionId, payloadText);
      }
      const begunMs = performance.now();
      const ended = await endedInTime(lane, submissionId);
      return { ended, durationMs: performance.now() - begunMs };
    }),
  );
  await planned.stop();
  const logs = lane.takeLogs();
  return prepared.map(({ plan, employer, applicant }, index) => {
    const { ended, durationMs = 0 } = ends[index] ?? {};
    const received = countOf(employer, applicant);
    const kept = canariesIn([lane.stateDir, lane.homeDir], applicant);
    const logged = applicant.canaries.filter((canary) => logs.includes(canary));
    const violations = [
      ...(ended === undefined ? ['no outcome'] : violationsOf(ended, received)),
      ...kept,
      ...logged.map((canary) => `the agent's log contains personal data: ${canary}`),
    ];
    return {
      plan,
      ended: ended ?? { type: 'lost' },
      durationMs,
      received,
      violations,
      countAgain: () => countOf(employer, applicant),
    };
  });
}
