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

export interface RunReport {
  readonly plan: RunPlan;
  readonly ended: Ended;
  readonly received: number;
  readonly violations: readonly string[];
  /** Counts the received applications again, because one may arrive after the outcome. */
  countAgain(): number;
}

/** A run without an outcome after this time counts as one that hangs. */
const endedMsMax = 150_000;

function countOf(employer: Employer, { answers }: Applicant): number {
  const email = answers.get('email');
  const text = email?.kind === 'text' ? email.text : '';
  return employer
    .submissions()
    .filter(({ fields }) => Object.values(fields).some((values) => values.includes(text))).length;
}

/** Calls `act` when the journal has recorded `submitting`. Returns a function that stops it. */
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
 * Prepares the strike at the moment of the plan. `stop` cancels a strike that has not begun, and
 * waits for one that has.
 */
function planStrike(lane: Lane, plan: RunPlan, submissionId: string, usualMs: number) {
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

/** The violations of the promises of CONTRACT 10, "At most once". */
function violationsOf(ended: Ended, received: number): string[] {
  if (received > 1) return [`the employer received ${received} applications`];
  if (ended.type === 'completed' && received === 0) return ['completed without an application'];
  if (ended.type !== 'failed') return [];
  const { code, message, submitted } = ended.failure;
  if (received === 0) {
    // The forms and the applicants are correct, so only the node or the way to the site can fail.
    return ['node_error', 'site_unreachable'].includes(code) ? [] : [`${code}: ${message}`];
  }
  if (submitted === false) return [`${code} denies an application that arrived`];
  return code === 'site_unreachable' ? ['site_unreachable after the application arrived'] : [];
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

/**
 * Runs one submission on the lane. Strikes as planned, and again after each restart if the plan
 * says so.
 */
export async function runOnce(
  lane: Lane,
  plan: RunPlan,
  { tag, usualMs }: { readonly tag: string; readonly usualMs: number },
): Promise<RunReport> {
  await lane.revive();
  const employer = lane.employer(plan.ats);
  const applicant = createApplicant(tag);
  const submissionId = toWireId('sub', newId());
  const text = payloadTextOf(employer.url, plan.ats, applicant.profile);
  await lane.link.assign(submissionId, text);
  const planned = planStrike(lane, plan, submissionId, usualMs);
  const ended = await endedInTime(lane, submissionId);
  await planned.stop();
  const received = countOf(employer, applicant);
  const kept = canariesIn([lane.stateDir, lane.homeDir], applicant);
  const logs = lane.takeLogs();
  const logged = applicant.canaries.filter((canary) => logs.includes(canary));
  const violations = [
    ...(ended === undefined ? ['no outcome'] : violationsOf(ended, received)),
    ...kept,
    ...logged.map((canary) => `the log holds ${canary}`),
  ];
  return {
    plan,
    ended: ended ?? { type: 'lost' },
    received,
    violations,
    countAgain: () => countOf(employer, applicant),
  };
}
