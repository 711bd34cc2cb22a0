import { setTimeout as sleep } from 'node:timers/promises';
import type { JobResult } from '@svc/contracts';
import { JobFailed } from '../../../executor.ts';
import {
  controlsOf,
  fillForm,
  type FillResult,
  findForm,
  type FindFailure,
  type FormTarget,
  type InFlight,
  pressNext,
  trackRequests,
} from '../page/index.ts';
import { type Application, refuseChallenge } from './application.ts';
import { submitForm } from './submit-form.ts';

/** Three of the limits in CONTRACT 10, "Limits". */
const navigationMsMax = 30_000;
const stepMsMax = 60_000;
const stepsMax = 12;

const messages: Record<FindFailure, string> = {
  captcha: 'The page shows a captcha that waits for a person.',
  login_required: 'The page asks the visitor to sign in.',
  posting_closed: 'The posting is closed.',
  form_unsupported: 'The page shows no application form that can be filled in.',
  site_unreachable: 'The page could not be loaded.',
};

export async function applyOnPage(application: Application): Promise<JobResult> {
  const startedMs = performance.now();
  const inFlight = trackRequests(application.page);
  const status = await open(application);
  const filledKeys = new Set<string>();
  const texts = new Set<string>();
  let left = 0;
  for (let step = 1; step <= stepsMax; step += 1) {
    const target = await withinStep(application, async () => {
      const found = await targetOf(application, step === 1 ? status : undefined);
      await armEarly(application, found);
      return found;
    });
    const filled = await withinStep(application, () =>
      fillStep(application, inFlight, target, step),
    );
    for (const { field, value } of filled.fills) {
      filledKeys.add(`${step} ${field.key}`);
      if (value.kind === 'text') texts.add(value.text);
    }
    left += filled.left.length;
    const controls = await controlsOf(target);
    if (controls.submit !== undefined) {
      const { adapter } = target;
      const confirmation = await submitForm(application, target, filled, [...texts]);
      const durationMs = Math.round(performance.now() - startedMs);
      const details = { fieldsFilled: filledKeys.size, fieldsLeft: left, steps: step, durationMs };
      return { ...confirmation, details: { adapter: adapter.name, ...details } };
    }
    if (controls.next === undefined) {
      throw new JobFailed(
        'form_unsupported',
        'The node found no button for the next step and could not identify the submit button.',
      );
    }
    const { next } = controls;
    application.meter.action();
    const pressed = await withinStep(application, () =>
      pressNext(target, filled.form, next, application.signal),
    );
    throwIfFailed(pressed);
  }
  throw new JobFailed('form_unsupported', `The form has more than ${stepsMax} steps.`);
}

/**
 * Arms the fence before the form is filled in, because a page may send the form by itself. Does
 * nothing without a form or submit control.
 */
async function armEarly({ fence }: Application, target: FormTarget): Promise<void> {
  const { submit, address } = await controlsOf(target);
  if (submit === undefined || address === undefined) return;
  // No value of this step is filled in yet. So the generic adapter cannot recognise the submission
  // request by a value, only by a non-GET navigation to the form's action.
  fence.arm(target.adapter.submissionOf({ ...address, values: [] }));
}

async function open({ page, applicationUrl, proxy, meter, signal }: Application) {
  meter.action();
  page.setDefaultNavigationTimeout(navigationMsMax);
  try {
    const response = await page.goto(applicationUrl, { waitUntil: 'domcontentloaded' });
    meter.advance();
    return response?.status();
  } catch (error) {
    signal.throwIfAborted();
    if (page.isClosed()) throw error;
    throw unreachable(proxy);
  }
}

/**
 * The failure of a page that did not load. It is not retriable if the proxy refused an address,
 * because the proxy would refuse this address again.
 */
function unreachable(proxy: Application['proxy']): JobFailed {
  if (proxy.refusals().length === 0) {
    return new JobFailed('site_unreachable', messages.site_unreachable);
  }
  const message = 'The network rules of the node refuse an address that the page needs.';
  return new JobFailed('site_unreachable', message, { retriable: false });
}

async function targetOf(application: Application, status: number | undefined): Promise<FormTarget> {
  const { page, hint, signal, meter, log } = application;
  const found = await findForm(page, { hint, status, signal, onAction: () => meter.action() });
  if (found.kind === 'failed') throw new JobFailed(found.code, messages[found.code]);
  meter.advance();
  log('form found', { adapter: found.target.adapter.name });
  await refuseChallenge(application);
  return found.target;
}

async function fillStep(
  application: Application,
  inFlight: InFlight,
  target: FormTarget,
  step: number,
) {
  const { profile, files, signal, meter, log, screenshot } = application;
  const startedMs = performance.now();
  const filled = await fillForm(target, {
    profile,
    files,
    signal,
    inFlight,
    onAction: () => meter.action(),
    onFilled(key) {
      meter.action();
      log('field filled', { key });
    },
  });
  throwIfFailed(filled);
  const durationMs = Math.round(performance.now() - startedMs);
  log('step filled', { step, fields: filled.fills.length, durationMs });
  await screenshot(`step-${step}`);
  return filled;
}

function throwIfFailed<T extends FillResult | { readonly kind: 'moved' }>(
  result: T,
): asserts result is Exclude<T, { kind: 'no_form' | 'invalid_payload' | 'form_unsupported' }> {
  switch (result.kind) {
    case 'no_form':
      throw new JobFailed('form_unsupported', messages.form_unsupported);
    case 'invalid_payload':
    case 'form_unsupported':
      throw new JobFailed(result.kind, result.message);
    case 'filled':
    case 'moved':
  }
}

/**
 * Rejects if `work` takes longer than `stepMsMax`, or if `signal` aborts. `work` may then go on
 * until the browser is closed.
 */
async function withinStep<T>({ signal }: Application, work: () => Promise<T>): Promise<T> {
  const timer = new AbortController();
  const limit = AbortSignal.any([signal, timer.signal]);
  const late = sleep(stepMsMax, undefined, { signal: limit }).then(() => {
    throw new JobFailed('node_error', `A step of the form took more than ${stepMsMax / 1_000} s.`);
  });
  late.catch(() => {});
  try {
    return await Promise.race([work(), late]);
  } finally {
    timer.abort();
  }
}
