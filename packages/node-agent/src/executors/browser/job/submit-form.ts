import { setTimeout as sleep } from 'node:timers/promises';
import { assertNever } from '@svc/domain';
import type { ElementHandle } from 'playwright-core';
import { JobFailed } from '../../../executor.ts';
import type { Answer } from '../adapters/index.ts';
import type { FieldReport } from '../page/in-page/reports.ts';
import {
  confirmationIdIn,
  controlsOf,
  emptyPage,
  isGone,
  type FillResult,
  type FormTarget,
  holds,
  isEmpty,
  judge,
  type PageFacts,
  type Proof,
  readForm,
  type ReadForm,
  readChallenge,
  readPage,
  waitForQuiet,
} from '../page/index.ts';
import { type Fill, refusedMessage } from '../planner/index.ts';
import { type Application, refuseChallenge } from './application.ts';

/**
 * The longest wait, after the site's answer, for the proof that the site has the application. This
 * limit is checked only between calls to the page.
 */
const proofMsMax = 15_000;
/** After the site's answer, a page is expected to show its messages within this time. */
const settledMs = 1_000;
const pollMs = 100;
const quietMs = 100;
/**
 * From the start of `fence.submit`, the wait for the site counts as progress for at most this long
 * (CONTRACT 10, "Metering").
 */
const waitMsMax = 60_000;
const heartbeatMs = 1_000;
/** The longest wait for the number and the address of a confirmation. */
const confirmationMsMax = 5_000;
const clickMsMax = 5_000;
const attemptsMax = 3;

type Filled = FillResult & { readonly kind: 'filled' };

interface Confirmation {
  readonly confirmationId?: string;
  readonly confirmationUrl?: string;
}

/**
 * Sends the form through the fence, once. Throws `JobFailed` if the form cannot be sent, or if the
 * site refuses the application or does not confirm it in time.
 */
export async function submitForm(
  application: Application,
  target: FormTarget,
  { form, fills }: Filled,
  /** The text values of all steps: the last step may have none. */
  values: readonly string[],
): Promise<Confirmation> {
  const { fence, meter, log } = application;
  await refuseChallenge(application);
  const { control, canClick } = await submitControl(target);
  await refuseChange(target, fills, application.files);
  const before = await readPage(application.page, target.adapter, watchedOf(target));
  if (before.asksSignature) {
    throw new JobFailed('form_unsupported', 'The form asks for a drawn signature.');
  }
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
          confirmationOf(application, target, form, before, sent),
          notConfirmedAfter(proofMsMax * 2, ended.signal),
        ]);
      case 'unanswered':
        throw new JobFailed(
          'node_error',
          'The node got no usable answer to the form. The site may have the application.',
        );
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
  /**
   * False if a click does not reach the control, for example because another element covers it. The
   * control is then pressed with the keyboard.
   */
  readonly canClick: boolean;
}

/**
 * Finds the submit control and checks that it can be pressed. Throws `JobFailed` if the control is
 * missing or stays disabled.
 */
async function submitControl(target: FormTarget): Promise<SubmitControl> {
  // Tries several times, because the page may replace the control.
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
    throw new JobFailed('form_unsupported', 'The submit button of the form stays disabled.');
  }
  throw new JobFailed('form_unsupported', 'The submit button is missing or keeps disappearing.');
}

/** Throws `JobFailed` if a field no longer has the value that the node has filled in. */
async function refuseChange(
  target: FormTarget,
  fills: readonly Fill[],
  files: Application['files'],
): Promise<void> {
  const now = await readForm(target).catch((error: unknown) => {
    if (isGone(error)) return undefined;
    throw error;
  });
  const isSame = fills.every((fill) => {
    const { key, kind, label } = fill.field;
    // The page may have rendered the field again, with another key.
    const report =
      now?.report(key) ??
      now?.fields.find(({ field }) => field.kind === kind && field.label === label);
    return report !== undefined && holds(report, fill, files);
  });
  await now?.dispose().catch(() => {});
  if (isSame) return;
  throw new JobFailed('form_unsupported', 'The page changed a field after the node filled it in.');
}

function beat(advance: () => void): () => void {
  const startedMs = performance.now();
  const timer = setInterval(() => {
    if (performance.now() - startedMs > waitMsMax) clearInterval(timer);
    else advance();
  }, heartbeatMs);
  return () => clearInterval(timer);
}

function isRefused({ field, state, isInvalid, hasMessage }: FieldReport): boolean {
  return isInvalid || hasMessage || (field.isRequired && isEmpty(state));
}

/**
 * The failure of an activation after which the fence let nothing out: what the page refuses or
 * still requires (CONTRACT 10, "At most once"). Nothing can leave any more.
 */
async function notSent({ page }: Application, target: FormTarget): Promise<JobFailed> {
  const submitted = false;
  if ((await readChallenge(page)) !== 'none') {
    const message = 'The page shows a captcha that waits for a person.';
    return new JobFailed('captcha', message, { submitted });
  }
  const form = await readForm(target).catch(() => undefined);
  const fields = form?.fields ?? [];
  const refused = fields.filter(isRefused).map(({ field }) => field.label);
  if (refused.length > 0) {
    return new JobFailed('invalid_payload', refusedMessage(refused), { submitted });
  }
  return new JobFailed('node_error', 'The page did not send the application.', { submitted });
}

function watchedOf({ adapter }: FormTarget): readonly string[] {
  return [adapter.success.shown, adapter.refusalShown].filter((one) => one !== undefined);
}

/** Judges the answer first without the page, because a page that has crashed cannot be read. */
async function confirmationOf(
  application: Application,
  target: FormTarget,
  form: ReadForm,
  before: PageFacts,
  answer: Answer,
): Promise<Confirmation> {
  const { page, signal, log } = application;
  const { adapter } = target;
  const watched = watchedOf(target);
  const known = { adapter, answer, sent: form.fields, before };
  const byAnswer = judge({ ...known, page: emptyPage, now: undefined, isSettled: false });
  const startedMs = performance.now();
  for (let proof = byAnswer; ;) {
    if (proof.kind === 'accepted') {
      const isOther = answer.url !== form.action;
      return await confirmationOn(application, target, isOther ? answer.url : undefined, watched);
    }
    if (proof.kind !== 'open') {
      log('refused', { status: answer.status });
      throw refusalOf(proof);
    }
    const waitedMs = performance.now() - startedMs;
    if (waitedMs > proofMsMax || answer.status >= 500) throw notConfirmed();
    const facts = await readPage(page, adapter, watched);
    const now = await readForm(target)
      .then((shown) => shown?.fields)
      .catch(() => undefined);
    proof = judge({ ...known, page: facts, now, isSettled: waitedMs > settledMs });
    if (proof.kind === 'open') await sleep(pollMs, undefined, { signal });
  }
}

function notConfirmed(): JobFailed {
  return new JobFailed('node_error', 'The site did not confirm that it has the application.');
}

/**
 * Rejects after `limitMs`, or when the signal aborts. The limit is needed because a call to a page
 * may never return.
 */
async function notConfirmedAfter(limitMs: number, signal: AbortSignal): Promise<never> {
  await sleep(limitMs, undefined, { signal }).catch(() => {});
  throw notConfirmed();
}

async function confirmationOn(
  { page }: Application,
  target: FormTarget,
  nextUrl: string | undefined,
  watched: readonly string[],
): Promise<Confirmation> {
  const read = async (): Promise<Confirmation> => {
    await waitForQuiet(page.mainFrame(), quietMs, settledMs);
    return confirmationIn(await readPage(page, target.adapter, watched), target, nextUrl);
  };
  try {
    // A call to a page that hangs never returns.
    return await Promise.race([read(), sleep(confirmationMsMax, {}, { ref: false })]);
  } catch {
    // The application is accepted, so it does not matter that the page cannot be read.
    return {};
  }
}

function confirmationIn(
  facts: PageFacts,
  { adapter, frame }: FormTarget,
  nextUrl: string | undefined,
): Confirmation {
  const confirmationId = confirmationIdIn(facts.sentences);
  const isConfirmation = (url: string): boolean =>
    URL.canParse(url) && adapter.success.path?.test(new URL(url).pathname) === true;
  // `nextUrl` is the URL of the answer, or the URL to which the answer redirects. `nextUrl` counts
  // only if the frame of the form shows this URL.
  const shownUrl = frame.url() === nextUrl ? nextUrl : undefined;
  const confirmationUrl = facts.urls.find(isConfirmation) ?? shownUrl;
  return {
    ...(confirmationId === undefined ? {} : { confirmationId }),
    ...(confirmationUrl === undefined ? {} : { confirmationUrl }),
  };
}

function refusalOf(proof: Exclude<Proof, { kind: 'accepted' | 'open' }>): JobFailed {
  if (proof.kind === 'to_confirm') {
    return new JobFailed(
      'confirmation_required',
      'The site asks the applicant to confirm the application by e-mail.',
    );
  }
  if (proof.kind === 'fields') {
    return new JobFailed('invalid_payload', refusedMessage(proof.labels));
  }
  switch (proof.refusal.kind) {
    case 'captcha':
      return new JobFailed('captcha', 'The site refused the form: its captcha was not solved.');
    case 'closed':
      return new JobFailed('posting_closed', 'The site answered that the posting is closed.');
    case 'rejected':
      return new JobFailed('ats_rejected', 'The site refused the application.');
  }
}
