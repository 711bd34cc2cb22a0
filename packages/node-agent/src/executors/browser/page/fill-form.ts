import { errors } from 'playwright-core';
import type { ApplicantProfile, Fill, FormField } from '../planner/index.ts';
import { missingMessage, planForm, refusedMessage, unsupportedMessage } from '../planner/index.ts';
import { leaveField } from './in-page/focus.ts';
import type { FieldReport } from './in-page/reports.ts';
import { isGone, readForm, type FormTarget, type ReadForm, waitForQuiet } from './read-form.ts';
import { waitForUpload } from './uploads.ts';
import { type Filled, fillWidget, type FillContext, holds, press } from './widgets.ts';

/** Catches changes that begin in neither a request nor a timer, such as a step of an animation. */
const quietMs = 50;
const quietMsMax = 5_000;
/**
 * The most rounds in which the form is read and filled in. Pages replace fields and lose values, so
 * one round may not be enough.
 */
const roundsMax = 10;
/**
 * The most attempts to fill in one field. If the page does not show the value after these attempts,
 * the value counts as refused.
 */
const attemptsMax = 3;

export interface FillOptions extends Omit<FillContext, 'onShown' | 'attempt'> {
  readonly profile: ApplicantProfile;
  /** Called with the key of a field after the field is filled in for the first time. */
  readonly onFilled: (key: string) => void;
}

export type FillResult =
  | {
      readonly kind: 'filled';
      readonly form: ReadForm;
      readonly fills: readonly Fill[];
      readonly left: readonly FormField[];
    }
  | { readonly kind: 'no_form' }
  | { readonly kind: 'invalid_payload'; readonly message: string }
  | { readonly kind: 'form_unsupported'; readonly message: string };

interface Progress {
  readonly attempts: Map<string, number>;
  /** The keys of the fields that cannot be filled in. These fields are not tried again. */
  readonly skipped: Set<string>;
  /**
   * By the key of a field: its state before the first attempt, as JSON. Only for fields with
   * options.
   */
  readonly initial: Map<string, string>;
  /** By the key of a field: the texts that its widget shows for the chosen options. */
  readonly shown: Map<string, readonly string[]>;
}

/**
 * Fills in the form of one step until the page shows all planned values. Skips optional fields that
 * cannot be filled in.
 */
export async function fillForm(target: FormTarget, options: FillOptions): Promise<FillResult> {
  const progress: Progress = {
    attempts: new Map(),
    skipped: new Set(),
    initial: new Map(),
    shown: new Map(),
  };
  for (let round = 0; round < roundsMax; round += 1) {
    options.signal.throwIfAborted();
    await options.inFlight.settle(target.frame, options.signal);
    await waitForQuiet(target.frame, quietMs, quietMsMax);
    // The page may have changed the form, so each round reads the form and plans again.
    const form = await readOrGone(target);
    if (form === 'gone') continue;
    if (form === undefined) return { kind: 'no_form' };
    const plan = planForm(form.model, options.profile);
    if (plan.unsupported.length > 0) {
      return { kind: 'form_unsupported', message: unsupportedMessage(plan.unsupported) };
    }
    if (plan.missing.length > 0) {
      return { kind: 'invalid_payload', message: missingMessage(plan.missing) };
    }
    const planned = plan.fills.map((fill) => withShown(fill, progress));
    const due = dueIn(form, planned, progress, options);
    const checked = plan.left.filter((field) => isPrechecked(form.report(field.key)));
    if (due.length === 0 && checked.length === 0) {
      const fills = planned.filter(({ field }) => !progress.skipped.has(field.key));
      const left = form.model.fields.filter((field) => !fills.some((fill) => fill.field === field));
      return resultOf(form, fills, left);
    }
    for (const field of checked) await uncheck(form, field, options);
    const failed = await fillAll(target, form, due, progress, options);
    await form.dispose().catch(() => {});
    if (failed !== undefined) return failed;
  }
  return {
    kind: 'form_unsupported',
    message: 'The form kept changing while the node filled it in.',
  };
}

async function readOrGone(target: FormTarget): Promise<ReadForm | undefined | 'gone'> {
  try {
    return await readForm(target);
  } catch (error) {
    if (isGone(error)) return 'gone';
    throw error;
  }
}

/** The fill with what its widget shows for the chosen options as further spellings. */
function withShown(fill: Fill, { shown }: Progress): Fill {
  const texts = shown.get(fill.field.key) ?? [];
  const { field, value } = fill;
  if (value.kind !== 'options' || texts.length === 0) return fill;
  return { field, value: { ...value, spellings: [...(value.spellings ?? []), ...texts] } };
}

function isFile({ value }: Fill): boolean {
  return value.kind === 'file';
}

/**
 * The fills to try in this round: the form does not show their value, and their field is not
 * skipped. Files come first, because some pages fill in fields from a file.
 */
function dueIn(
  form: ReadForm,
  fills: readonly Fill[],
  { skipped }: Progress,
  { files }: FillOptions,
): Fill[] {
  const due = fills.filter((fill) => {
    const report = form.report(fill.field.key);
    return report !== undefined && !skipped.has(fill.field.key) && !holds(report, fill, files);
  });
  return [...due.filter(isFile), ...due.filter((fill) => !isFile(fill))];
}

/**
 * Returns a failure if `fillForm` must end with it. Otherwise returns undefined, and the next round
 * reads the form again. A field that has gone is no failure.
 */
async function fillAll(
  target: FormTarget,
  form: ReadForm,
  due: readonly Fill[],
  { attempts, skipped, initial, shown }: Progress,
  options: FillOptions,
): Promise<FillResult | undefined> {
  for (const fill of due) {
    const { key, label, isRequired } = fill.field;
    const earlier = attempts.get(key) ?? 0;
    if (earlier >= attemptsMax) {
      return { kind: 'invalid_payload', message: refusedMessage([label]) };
    }
    if (fill.value.kind === 'options' && !initial.has(key)) {
      // An earlier field of this round may have changed this one.
      initial.set(key, JSON.stringify(await stateNow(target, key)));
    }
    const filled = await tryToFill(form, fill, {
      ...options,
      attempt: earlier,
      onShown: (at, texts) => shown.set(at, texts),
    });
    if (filled === 'gone') return undefined;
    attempts.set(key, earlier + 1);
    if (filled === 'late' && earlier + 1 < attemptsMax) return undefined;
    if (filled !== 'filled') {
      skipped.add(key);
      // An optional field may stay empty. But a form with only a part of an answer is not sent.
      const isPart = filled === 'part' || (await holdsOther(target, key, initial.get(key)));
      if (isPart) return { kind: 'invalid_payload', message: refusedMessage([label]) };
      if (!isRequired) continue;
      if (filled === 'refused') {
        return { kind: 'invalid_payload', message: refusedMessage([label]) };
      }
      return filled === 'no_option'
        ? { kind: 'invalid_payload', message: missingMessage([fill.field]) }
        : { kind: 'form_unsupported', message: unsupportedMessage([fill.field]) };
    }
    if (earlier === 0) options.onFilled(key);
    if (fill.value.kind === 'file') {
      const upload = await waitForUpload(target, form, fill.field, options);
      if (upload === 'refused') {
        return { kind: 'invalid_payload', message: refusedMessage([label]) };
      }
    }
    await leave(target, options);
  }
  return undefined;
}

/**
 * Leaves the field, as a person does, and waits for what the change has begun. Pages check a field,
 * enable a button or show a further question only then.
 */
async function leave({ frame }: FormTarget, { inFlight, signal }: FillOptions): Promise<void> {
  await frame.evaluate(leaveField).catch((error: unknown) => {
    if (frame.isDetached() || !isGone(error)) throw error;
  });
  await inFlight.settle(frame, signal);
}

/** `late`: the page or the machine was too slow, so another attempt may succeed. */
async function tryToFill(
  form: ReadForm,
  fill: Fill,
  options: FillContext,
): Promise<Filled | 'gone' | 'late'> {
  try {
    return await fillWidget(form, fill, options);
  } catch (error) {
    options.signal.throwIfAborted();
    if (isGone(error) || !(await isInPage(form, fill))) return 'gone';
    return error instanceof errors.TimeoutError ? 'late' : 'not_operable';
  }
}

/** True if the field has options chosen, and not the same ones as before the first attempt. */
async function holdsOther(
  target: FormTarget,
  key: string,
  initial: string | undefined,
): Promise<boolean> {
  const state = await stateNow(target, key);
  return state?.kind === 'chosen' && state.labels.length > 0 && JSON.stringify(state) !== initial;
}

async function stateNow(
  target: FormTarget,
  key: string,
): Promise<FieldReport['state'] | undefined> {
  const form = await readOrGone(target);
  if (form === undefined || form === 'gone') return undefined;
  const state = form.report(key)?.state;
  await form.dispose().catch(() => {});
  return state;
}

async function isInPage(form: ReadForm, { field }: Fill): Promise<boolean> {
  try {
    return await (await form.element(field.key)).evaluate((element) => element.isConnected);
  } catch {
    return false;
  }
}

function isPrechecked(report: FieldReport | undefined): boolean {
  if (report?.state.kind !== 'chosen' || report.state.labels.length === 0) return false;
  return report.field.kind === 'checkbox' || report.field.kind === 'checkboxes';
}

/**
 * Unchecks each checkbox of a field that the profile does not answer. A checkbox that the page has
 * checked may be a consent that is not in the profile (CONTRACT 10, "Input").
 */
async function uncheck(form: ReadForm, field: FormField, { onAction }: FillOptions): Promise<void> {
  try {
    for (const index of (field.options ?? [field.label]).keys()) {
      const control = await form.element(field.key, index);
      if (!(await control.isChecked())) continue;
      await press(control);
      onAction();
    }
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

function resultOf(form: ReadForm, fills: readonly Fill[], left: readonly FormField[]): FillResult {
  const invalid = fills.filter(({ field }) => form.report(field.key)?.isInvalid === true);
  return invalid.length === 0
    ? { kind: 'filled', form, fills, left }
    : { kind: 'invalid_payload', message: refusedMessage(invalid.map(({ field }) => field.label)) };
}
