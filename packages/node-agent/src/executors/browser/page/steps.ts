import { setTimeout as sleep } from 'node:timers/promises';
import type { ElementHandle } from 'playwright-core';
import { refusedMessage } from '../planner/index.ts';
import { inDocument } from './in-page.ts';
import type { FieldReport, FormAddress } from './in-page/reports.ts';
import { type FormTarget, isGone, readForm, type ReadForm } from './read-form.ts';

const pollMs = 100;
/**
 * For this long after the "next" control is pressed, no field counts as refused. The page may still
 * be on its way to the next step.
 */
const messageMs = 1_500;
const nextMsMax = 30_000;
const clickMsMax = 5_000;

export interface Controls {
  /** Undefined if the form is gone. */
  readonly address: FormAddress | undefined;
  readonly submit: ElementHandle<HTMLElement> | undefined;
  readonly next: ElementHandle<HTMLElement> | undefined;
}

export async function controlsOf({ frame, adapter }: FormTarget): Promise<Controls> {
  const handle = await inDocument(frame, (loaded) =>
    loaded.evaluateHandle((functions, one) => functions.findControls(one), adapter.reading),
  );
  const element = async (index: number): Promise<ElementHandle<HTMLElement> | undefined> => {
    const found = await handle.evaluateHandle(({ elements }, at) => elements[at], index);
    const control = found.asElement();
    return control ?? undefined;
  };
  const address = await handle.evaluate(({ report }) => report);
  return { address, submit: await element(0), next: await element(1) };
}

export type Pressed =
  | { readonly kind: 'moved' }
  | { readonly kind: 'invalid_payload' | 'form_unsupported'; readonly message: string };

async function press(control: ElementHandle<HTMLElement>): Promise<void> {
  try {
    await control.click({ trial: true, timeout: clickMsMax });
  } catch {
    return await control.press('Enter', { timeout: clickMsMax });
  }
  await control.click({ timeout: clickMsMax });
}

/**
 * Presses the control. Returns `moved` when the page has left the step, `invalid_payload` if the
 * page refuses values, or `form_unsupported` after `nextMsMax`.
 */
export async function pressNext(
  target: FormTarget,
  before: ReadForm,
  control: ElementHandle<HTMLElement>,
  signal: AbortSignal,
): Promise<Pressed> {
  const previous = identityOf(before);
  await press(control);
  const startedMs = performance.now();
  for (;;) {
    const form = await readForm(target).catch((error: unknown) => {
      if (!isGone(error)) throw error;
      return undefined;
    });
    // If there is no form, the page has left the step, for example because the next step is on
    // another page.
    if (form === undefined || identityOf(form) !== previous) return { kind: 'moved' };
    const refused = form.fields.filter(isRefused);
    const waitedMs = performance.now() - startedMs;
    if (refused.length > 0 && waitedMs > messageMs) {
      const labels = refused.map(({ field }) => field.label);
      return { kind: 'invalid_payload', message: refusedMessage(labels) };
    }
    if (waitedMs > nextMsMax) {
      return { kind: 'form_unsupported', message: 'The form does not go on to its next step.' };
    }
    await sleep(pollMs, undefined, { signal });
  }
}

function isRefused({ isInvalid, hasMessage }: FieldReport): boolean {
  return isInvalid || hasMessage;
}

function identityOf({ url, fields }: ReadForm): string {
  return JSON.stringify([url, fields.map(({ field }) => [field.key, field.label])]);
}
