/// <reference lib="dom" />
import { setTimeout as sleep } from 'node:timers/promises';
import type { ElementHandle, Frame, JSHandle } from 'playwright-core';
import type { OptionsValue } from '../planner/form-model.ts';
import { chooseOptions, normaliseLabel } from '../planner/index.ts';
import type { InFlight } from './in-flight.ts';
import { inDocument } from './in-page.ts';
import type { Snapshot } from './in-page/dropdown.ts';
import { leaveField } from './in-page/focus.ts';
import type { ChoicesReport } from './in-page/reports.ts';
import { isGone } from './read-form.ts';

const pollMs = 50;
/**
 * If for this long nothing changes, although all requests and timers have ended, the wanted option
 * counts as missing. The time is for changes that are drawn step by step.
 */
const settledMs = 250;
/** The longest search for one option after one key or click. */
const searchedMsMax = 8_000;
const clickMsMax = 2_000;
/** The most texts that are typed in search of one option. A location has up to four spellings. */
const searchesMax = 4;

export type Choice =
  /**
   * `shown`: texts that the widget shows instead of a wanted label, such as "+353" for "Ireland
   * (+353)".
   */
  | { readonly kind: 'chosen'; readonly shown: readonly string[] }
  /** At least one wanted option is chosen, but the widget lacks the next one. */
  | { readonly kind: 'part' }
  | { readonly kind: 'no_option' }
  /** The page did not show the chosen option. */
  | { readonly kind: 'not_operable' };

export interface DropdownContext {
  /** True if the typed text is the value where the page offers no options. */
  readonly takesText: boolean;
  /** Called once for each option that is searched, after the click that opens the widget. */
  readonly onAction: () => void;
  readonly inFlight: Pick<InFlight, 'settle'>;
  readonly signal: AbortSignal;
}

type Wanted = Pick<OptionsValue, 'labels' | 'spellings' | 'meaning'>;
type Control = ElementHandle<HTMLElement>;

interface Search extends DropdownContext {
  readonly control: Control;
  readonly frame: Frame;
  readonly before: JSHandle<Snapshot>;
}

/**
 * Chooses the wanted options one by one, until the widget lacks one. Presses the visible box, and
 * chooses the only new text that equals the answer.
 */
export async function chooseInDropdown(
  control: Control,
  value: OptionsValue,
  context: DropdownContext,
): Promise<Choice> {
  const frame = await control.ownerFrame();
  if (frame === null) throw new Error('The field is not attached to the page.');
  const before = await inDocument(frame, (loaded) =>
    loaded.evaluateHandle((functions) => functions.takeSnapshot()),
  );
  const search: Search = { ...context, control, frame, before };
  const shown: string[] = [];
  let choice: Choice = { kind: 'chosen', shown };
  for (const [index, label] of value.labels.entries()) {
    const wanted = { ...value, labels: [label] };
    choice = await chooseOne(search, wanted);
    if (choice.kind === 'chosen') shown.push(...choice.shown);
    else {
      if (index > 0 && choice.kind === 'no_option') choice = { kind: 'part' };
      break;
    }
  }
  await close(search);
  await before.dispose();
  return choice.kind === 'chosen' ? { kind: 'chosen', shown } : choice;
}

async function chooseOne(search: Search, wanted: Wanted): Promise<Choice> {
  const { control, takesText, onAction } = search;
  onAction();
  for (const open of takesText ? [] : [pressBox, pressArrow]) {
    if (!(await isOpen(search))) await open(search);
    const choice = await pick(search, wanted);
    if (choice !== undefined) return choice;
    if (await isOpen(search)) break;
  }
  const field = await searchFieldOf(search);
  if (field === undefined) return { kind: 'no_option' };
  for (const text of [...wanted.labels, ...(wanted.spellings ?? [])].slice(0, searchesMax)) {
    await type(search, field, text);
    const choice = await pick(search, wanted);
    if (choice !== undefined) return choice;
    if (takesText && !(await isOpen(search))) {
      // The page offers no suggestions, so the typed text is the value.
      return { kind: 'chosen', shown: [text] };
    }
  }
  if (await control.evaluate((element) => element.isConnected)) await type(search, field, '');
  return { kind: 'no_option' };
}

/** Types with the keyboard, because some fields to search in have no size. */
async function type({ frame }: Search, field: Control, text: string): Promise<void> {
  const { keyboard } = frame.page();
  await field.focus();
  await keyboard.press('ControlOrMeta+A');
  if (text === '') return await keyboard.press('Delete');
  await keyboard.insertText(text);
  // Some lists load their options only after a key is pressed.
  await keyboard.press('End');
}

/** Presses the box as a person does. The press neither sends the form nor leaves the page. */
async function pressBox({ control, frame }: Search): Promise<void> {
  const handle = await inDocument(frame, (loaded) =>
    loaded.evaluateHandle((functions, one) => functions.boxOf(one), control),
  );
  const box = handle.asElement() ?? control;
  await guarded(frame, async () => {
    await box.click({ timeout: clickMsMax }).catch(async (error: unknown) => {
      if (isGone(error)) throw error;
      await control.focus();
    });
  });
}

/** Opens widgets that no click opens. On a button, this key does nothing else. */
async function pressArrow({ control, frame }: Search): Promise<void> {
  await guarded(frame, async () => await control.press('ArrowDown', { timeout: clickMsMax }));
}

async function guarded(frame: Frame, press: () => Promise<void>): Promise<void> {
  const guard = await inDocument(frame, (loaded) =>
    loaded.evaluateHandle((functions) => functions.raiseGuard()),
  );
  try {
    await press();
  } finally {
    await guard.evaluate(({ lower }) => lower()).catch(() => {});
    await guard.dispose().catch(() => {});
  }
}

async function isOpen(search: Search): Promise<boolean> {
  return await readChoices(search, async ({ report }) => report.isShown);
}

interface Choices {
  readonly report: ChoicesReport;
  readonly element: (index: number) => Promise<ElementHandle<Element> | undefined>;
}

async function readChoices<T>(
  { control, frame, before }: Search,
  use: (choices: Choices) => Promise<T>,
): Promise<T> {
  const handle = await inDocument(frame, (loaded) =>
    loaded.evaluateHandle((functions, one) => functions.readChoices(one.element, one), {
      element: control,
      before,
    }),
  );
  try {
    const report = await handle.evaluate((read) => read.report);
    return await use({
      report,
      async element(index) {
        const found = await handle.evaluateHandle((read, at) => read.elements[at], index);
        return found.asElement() ?? undefined;
      },
    });
  } finally {
    await handle.dispose().catch(() => {});
  }
}

/** Undefined if the widget does not offer the option, also not after a wait. */
async function pick(search: Search, wanted: Wanted): Promise<Choice | undefined> {
  const startedMs = performance.now();
  let settledSinceMs = startedMs;
  let known: string | undefined;
  for (;;) {
    await search.inFlight.settle(search.frame, search.signal);
    const found = await readChoices(search, async (choices) => {
      const { labels, isLoading } = choices.report;
      const [option] = chooseOptions(labels, wanted) ?? [];
      if (option === undefined) return { text: labels.join('\n'), isLoading };
      return await choose(search, choices, option, wanted);
    });
    if ('kind' in found) return found;
    const nowMs = performance.now();
    if (found.text !== known || found.isLoading) settledSinceMs = nowMs;
    known = found.text;
    if (nowMs - settledSinceMs > settledMs || nowMs - startedMs > searchedMsMax) return undefined;
    await sleep(pollMs, undefined, { signal: search.signal });
  }
}

async function choose(
  search: Search,
  choices: Choices,
  option: string,
  { labels: [label = ''] }: Wanted,
): Promise<Choice> {
  const { control, frame, signal } = search;
  const index = choices.report.labels.indexOf(option);
  const before = await inDocument(frame, (loaded) =>
    loaded.evaluate((functions, one) => functions.shownBy(one), control),
  );
  const isThere = before.some((text) => normaliseLabel(text) === normaliseLabel(option));
  // A second press would take back an option of a list with several.
  if (isThere && choices.report.chosen[index] === true) return { kind: 'chosen', shown: [] };
  const element = await choices.element(index);
  if (element === undefined) return { kind: 'not_operable' };
  await guarded(frame, async () => await element.click({ timeout: clickMsMax }));
  await search.inFlight.settle(frame, signal);
  const after = await inDocument(frame, (loaded) =>
    loaded.evaluate((functions, one) => functions.shownBy(one), control),
  ).catch((error: unknown) => {
    if (isGone(error)) return undefined;
    throw error;
  });
  // The page has replaced the widget. The next read compares its value.
  if (after === undefined) return { kind: 'chosen', shown: [] };
  const verdict = verdictOn(option, before, after);
  if (verdict.kind !== 'chosen' || normaliseLabel(label) === normaliseLabel(option)) return verdict;
  // The option says the same as the answer in other words.
  return { kind: 'chosen', shown: [option, ...verdict.shown] };
}

/** Compares what the box shows with the option that was pressed. */
function verdictOn(option: string, before: readonly string[], after: readonly string[]): Choice {
  const label = normaliseLabel(option);
  if (after.some((text) => normaliseLabel(text) === label)) return { kind: 'chosen', shown: [] };
  const parts = after.filter((text) => {
    const part = normaliseLabel(text);
    return part !== '' && !before.includes(text) && ` ${label} `.includes(` ${part} `);
  });
  return parts.length === 0 ? { kind: 'not_operable' } : { kind: 'chosen', shown: parts };
}

async function searchFieldOf({ control, frame, before }: Search): Promise<Control | undefined> {
  const handle = await inDocument(frame, (loaded) =>
    loaded.evaluateHandle((functions, one) => functions.searchFieldOf(one.element, one), {
      element: control,
      before,
    }),
  );
  return handle.asElement() ?? undefined;
}

/**
 * Leaves the widget, and closes a list that then still stands open. In some libraries an open list
 * hides the rest of the page from assistive technology.
 */
async function close(search: Search): Promise<void> {
  await search.frame.evaluate(leaveField);
  const isStillOpen = await isOpen(search).catch(() => false);
  if (isStillOpen) await search.control.press('Escape', { timeout: clickMsMax }).catch(() => {});
}
