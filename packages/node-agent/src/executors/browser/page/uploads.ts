import { setTimeout as sleep } from 'node:timers/promises';
import type { FormField } from '../planner/form-model.ts';
import type { InFlight } from './in-flight.ts';
import { inDocument } from './in-page.ts';
import { isGone, type FormTarget, type ReadForm } from './read-form.ts';

const pollMs = 50;
const uploadMsMax = 45_000;
/**
 * The time for a sign of an upload to appear. Without a sign, the agent assumes that the page sends
 * the file with the form.
 */
const signMsMax = 120;
/** Before the wait began, the page may have begun the upload already. */
const earlierMs = 1_000;

/**
 * Waits until the page has taken or refused the file. Without a sign of an upload, the file counts
 * as taken. If an upload lasts longer than `uploadMsMax`, the file counts as refused.
 */
export async function waitForUpload(
  target: FormTarget,
  form: ReadForm,
  { key }: FormField,
  { signal, inFlight }: { readonly signal: AbortSignal; readonly inFlight: InFlight },
): Promise<'taken' | 'refused'> {
  const startedMs = performance.now();
  let hasWorked = false;
  for (;;) {
    // A request that sends data may be the upload, so this waits for its end first.
    await inFlight.waitUntilNone(startedMs - earlierMs, signal);
    const report = await readUpload(target, form, key).catch((error: unknown) => {
      if (isGone(error)) return undefined;
      throw error;
    });
    // The page has replaced or hidden the field. The next round of `fillForm` reads the form again,
    // so the file counts as taken here.
    if (report === undefined) return 'taken';
    hasWorked ||= report.isWorking;
    if (report.isFailed && !report.isWorking) return 'refused';
    if (report.isDone && !report.isWorking) return 'taken';
    const waitedMs = performance.now() - startedMs;
    const isOver = hasWorked ? !report.isWorking : waitedMs > signMsMax;
    if (isOver) return 'taken';
    if (waitedMs > uploadMsMax) return 'refused';
    await sleep(pollMs);
  }
}

async function readUpload({ frame, adapter }: FormTarget, form: ReadForm, key: string) {
  const input = await form.element(key);
  const { reading: rules, upload } = adapter;
  const handle = await inDocument(frame, (loaded) =>
    loaded.evaluateHandle((functions, one) => functions.readUpload(one.element, one), {
      element: input,
      rules,
      upload,
    }),
  );
  const report = await handle.jsonValue();
  await handle.dispose();
  return report;
}
