import { setTimeout as sleep } from 'node:timers/promises';
import { assertNever } from '@svc/domain';
import type { ElementHandle } from 'playwright-core';
import { JobFailed } from '../../../executor.ts';
import type { Answer } from '../adapters/index.ts';
import {
  confirmationIdIn,
  controlsOf,
  isGone,
  type FieldReport,
  type FillResult,
  type FormTarget,
  judge,
  type PageFacts,
  type Proof,
  readForm,
  readPage,
} from '../page/index.ts';
import { refusedMessage } from '../planner/index.ts';
import { type Application, refuseChallenge } from './apply-on-page.ts';

/** The time for the page to show what became of an answered submission. */
const proofMsMax = 15_000;
/** A page shows its messages within this time after the answer. */
const settledMs = 1_000;
const pollMs = 100;
/** Waiting for the answer counts as an advance for this long (CONTRACT 10, "Metering"). */
const waitMsMax = 60_000;
const heartbeatMs = 1_000;
const clickMsMax = 5_000;
const attemptsMax = 3;

type Filled = FillResult & { readonly kind: 'filled' };

interface Confirmation {
  readonly confirmationId?: string;
  readonly confirmationUrl?: string;
}

/** Sends the form through the fence, once, and waits for a proof of what became of it. */
export async function submitForm(
  application: Application,
  target: FormTarget,
  { form, fills }: Filled,
): Promise<Confirmation> {
  const { fence, meter, log } = application;
  await refuseChallenge(application, target);
  const { control, canClick } = await submitControl(target);
  const values = fills.flatMap(({ value }) => (value.kind === 'text' ? [value.text] : []));
  fence.arm(target.adapter.submissionOf({ url: form.url, action: form.action, values }));
  const heartbeat = beat(() => meter.advance());
  const ended = new AbortController();
  try {
    const sent = await fence.submit(async () => {
      meter.action();
      if (canClick) await control.click({ noWaitAfter: true, timeout: clickMsMax });
      else await control.press('Enter', { noWaitAfter: true, timeout: clickMsMax });
    });
    log('submitted', { outcome: sent.kind });
    switch (sent.kind) {
      case 'answered':
        return await Promise.race([
          confirmationOf(application, target, form.fields, sent),
          notConfirmedAfter(proofMsMax * 2, ended.signal),
        ]);
      case 'unanswered':
        throw new JobFailed('node_error', 'The site did not answer the submission.');
      case 'nothing_sent':
        throw await notSent(application, target);
      default:
        return assertNever(sent);
    }
  } finally {
    heartbeat();
    ended.abort();
  }
}

interface SubmitControl {
  readonly control: ElementHandle<HTMLElement>;
  /** A person cannot click what is covered, but can press it with the keyboard. */
  readonly canClick: boolean;
}

/** Finds the control again, because the page may have replaced it. */
async function submitControl(target: FormTarget): Promise<SubmitControl> {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const { submit: control } = await controlsOf(target);
    if (control === undefined) continue;
    try {
      await control.click({ trial: true, timeout: clickMsMax });
      return { control, canClick: true };
    } catch (error) {
      if (isGone(error)) continue;
    }
    if (await control.isEnabled()) return { control, canClick: false };
    throw new JobFailed('form_unsupported', 'The control that sends the form stays disabled.');
  }
  throw new JobFailed(
    'form_unsupported',
    'The page does not keep the control that sends the form.',
  );
}

function beat(advance: () => void): () => void {
  const startedMs = performance.now();
  const timer = setInterval(() => {
    if (performance.now() - startedMs > waitMsMax) clearInterval(timer);
    else advance();
  }, heartbeatMs);
  return () => clearInterval(timer);
}

/** The page did not send the application, so it can say why: its own checks, or a captcha. */
async function notSent({ page }: Application, target: FormTarget): Promise<JobFailed> {
  const facts = await readPage(page, target.adapter, []);
  if (facts.challenge !== 'none') {
    return new JobFailed('captcha', 'The page shows a captcha that waits for a person.');
  }
  const fields = (await readForm(target))?.fields ?? [];
  const refused = fields.filter(({ isInvalid, hasMessage }) => isInvalid || hasMessage);
  if (refused.length > 0) {
    const labels = refused.map(({ field }) => field.label);
    return new JobFailed('invalid_payload', refusedMessage(labels));
  }
  return new JobFailed('node_error', 'The page did not send the application.');
}

async function confirmationOf(
  application: Application,
  target: FormTarget,
  sent: readonly FieldReport[],
  answer: Answer,
): Promise<Confirmation> {
  const { page, signal, log } = application;
  const { adapter } = target;
  const watched = [adapter.success.shown, adapter.refusalShown].filter((one) => one !== undefined);
  const startedMs = performance.now();
  for (;;) {
    const facts = await readPage(page, adapter, watched);
    const now = await readForm(target)
      .then((form) => form?.fields)
      .catch(() => undefined);
    const waitedMs = performance.now() - startedMs;
    const isSettled = waitedMs > settledMs;
    const proof = judge({ adapter, answer, page: facts, sent, now, isSettled });
    if (proof.kind === 'accepted') {
      return isSettled || hasShownConfirmation(facts, now)
        ? confirmationIn(facts, target)
        : await shownLater(application, target, watched);
    }
    if (proof.kind !== 'open') {
      log('refused', { status: answer.status });
      throw refusalOf(proof);
    }
    if (waitedMs > proofMsMax || answer.status >= 500) {
      throw notConfirmed();
    }
    await sleep(pollMs, undefined, { signal });
  }
}

function notConfirmed(): JobFailed {
  return new JobFailed('node_error', 'The site did not confirm that it has the application.');
}

/** Fails if the page does not even answer questions about what it shows. */
async function notConfirmedAfter(limitMs: number, signal: AbortSignal): Promise<never> {
  await sleep(limitMs, undefined, { signal }).catch(() => {});
  throw notConfirmed();
}

/** True if the form has gone: the page shows its confirmation. */
function hasShownConfirmation(facts: PageFacts, now: readonly FieldReport[] | undefined): boolean {
  return now === undefined && facts.urls.length > 0;
}

/** An answer has proved success before the page shows it. */
async function shownLater(
  { page, signal }: Application,
  target: FormTarget,
  watched: readonly string[],
): Promise<Confirmation> {
  await sleep(settledMs / 2, undefined, { signal });
  return confirmationIn(await readPage(page, target.adapter, watched), target);
}

function confirmationIn(facts: PageFacts, { adapter }: FormTarget): Confirmation {
  const confirmationId = confirmationIdIn(facts.sentences);
  const isConfirmation = (url: string): boolean =>
    URL.canParse(url) && adapter.success.path?.test(new URL(url).pathname) === true;
  const confirmationUrl = facts.urls.find(isConfirmation);
  return {
    ...(confirmationId === undefined ? {} : { confirmationId }),
    ...(confirmationUrl === undefined ? {} : { confirmationUrl }),
  };
}

function refusalOf(proof: Exclude<Proof, { kind: 'accepted' | 'open' }>): JobFailed {
  if (proof.kind === 'fields') {
    return new JobFailed('invalid_payload', refusedMessage(proof.labels));
  }
  switch (proof.refusal.kind) {
    case 'captcha':
      return new JobFailed('captcha', 'The site answered that its captcha failed.');
    case 'closed':
      return new JobFailed('posting_closed', 'The site answered that the posting is closed.');
    case 'rejected':
      return new JobFailed('ats_rejected', 'The site refused the application.');
  }
}
