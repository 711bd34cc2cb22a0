/// <reference lib="dom" />
import type { ElementHandle } from 'playwright-core';
import type { OptionsValue } from '../planner/form-model.ts';
import { chooseOptions } from '../planner/index.ts';
import type { InFlight } from './in-flight.ts';
import { awaitListboxOf, readListboxOf } from './in-page.ts';
import type { ListboxReport } from './in-page/reports.ts';

/** The longest time that one call of `awaitListboxOf` waits for the options to change. */
const waitMs = 120;
/**
 * The longest wait for the wanted option after a click or ArrowDown on the combobox. While the page
 * waits for an answer of its server (`isAsking`), `searchedMsMax` applies.
 */
const openedMsMax = 1_500;
/** The longest wait for the wanted option after typing, or while `isAsking` is true. */
const searchedMsMax = 8_000;
/**
 * If for this long the list neither changes nor loads, and `isAsking` is false, the wanted option
 * counts as missing.
 */
const settledMs = 700;
/** Replaces `settledMs` if an open list has no options. Such a list often waits for typing. */
const emptyMs = 250;
const clickMsMax = 5_000;
/** The most texts that are typed in search of one option. A location has up to four spellings. */
const searchesMax = 4;

/** `part`: at least one wanted option is chosen, but the list lacks the next one. */
export type Choice = 'chosen' | 'part' | 'no_option';

export interface ComboboxContext {
  /** The selector of the options. Undefined if the options are in a listbox. */
  readonly suggestions: string | undefined;
  /** Called once for each option that is searched, after the click that opens the list. */
  readonly onAction: () => void;
  readonly inFlight: Pick<InFlight, 'isAsking'>;
}

/**
 * Chooses the wanted options one by one, and stops at the first one that the list lacks. Options
 * may load late, or only after typing.
 */
export async function chooseInCombobox(
  control: ElementHandle<HTMLElement>,
  value: OptionsValue,
  context: ComboboxContext,
): Promise<Choice> {
  let choice: Choice = 'chosen';
  for (const [index, label] of value.labels.entries()) {
    const wanted = { labels: [label], spellings: value.spellings ?? [] };
    choice = await chooseOne(control, wanted, context);
    if (choice === 'chosen') continue;
    if (index > 0) choice = 'part';
    break;
  }
  // Closes the list. In some libraries an open list sets `aria-hidden` on the rest of the page, and
  // the reader of the form would then skip the other fields.
  await control.press('Escape').catch(() => {});
  return choice;
}

type Wanted = Pick<OptionsValue, 'labels' | 'spellings'>;

async function chooseOne(
  control: ElementHandle<HTMLElement>,
  wanted: Wanted,
  { suggestions, onAction, inFlight }: ComboboxContext,
): Promise<'chosen' | 'no_option'> {
  const touchedAtMs = performance.now();
  const isAsking = (): boolean => inFlight.isAsking(touchedAtMs);
  const search: Search = { control, wanted, selector: suggestions, isAsking };
  await control.click({ timeout: clickMsMax }).catch(async () => await control.focus());
  onAction();
  if (suggestions === undefined) {
    if (await pick(search, openedMsMax)) return 'chosen';
    const isShown = (await readOptions(control, suggestions)).isShown;
    if (!isShown) await control.press('ArrowDown');
    if (!isShown && (await pick(search, openedMsMax))) return 'chosen';
  }
  if (!(await control.evaluate(isEditable))) return 'no_option';
  for (const text of [...wanted.labels, ...(wanted.spellings ?? [])].slice(0, searchesMax)) {
    await control.fill(text);
    // Some lists load their options only after a key is pressed.
    await control.press('End');
    if (await pick(search, searchedMsMax)) return 'chosen';
    if (suggestions !== undefined && !(await readOptions(control, suggestions)).isShown) {
      // The page offers no suggestions, so the typed text is the value.
      return 'chosen';
    }
  }
  await control.fill('');
  return 'no_option';
}

interface Search {
  readonly control: ElementHandle<HTMLElement>;
  readonly wanted: Wanted;
  readonly selector: string | undefined;
  readonly isAsking: () => boolean;
}

/** Runs in the page. `isEditable` of Playwright would throw for an element such as a button. */
function isEditable(element: HTMLElement): boolean {
  const isText = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
  return isText ? !element.readOnly && !element.disabled : element.isContentEditable;
}

async function pick(search: Search, limitMs: number): Promise<boolean> {
  const { control, wanted, selector, isAsking } = search;
  const startedMs = performance.now();
  let settledSinceMs = startedMs;
  let known: string | undefined;
  while (performance.now() - startedMs < (isAsking() ? searchedMsMax : limitMs)) {
    const asked = { selector, known, limitMs: waitMs };
    const handle = await control.evaluateHandle(awaitListboxOf, asked);
    const report = await handle.evaluate((read) => read.report);
    const [option] = chooseOptions(report.labels, wanted) ?? [];
    const index = option === undefined ? -1 : report.labels.indexOf(option);
    if (index >= 0) {
      const element = await handle.evaluateHandle((read, at) => read.elements[at], index);
      const found = element.asElement();
      if (found !== null) await found.click({ timeout: clickMsMax });
      await handle.dispose();
      return found !== null;
    }
    await handle.dispose();
    const labels = report.labels.join('\n');
    if (labels !== known || report.isLoading || isAsking()) settledSinceMs = performance.now();
    const patienceMs = report.isShown && report.labels.length === 0 ? emptyMs : settledMs;
    if (performance.now() - settledSinceMs > patienceMs) return false;
    known = labels;
  }
  return false;
}

async function readOptions(
  control: ElementHandle<HTMLElement>,
  suggestions: string | undefined,
): Promise<ListboxReport> {
  const handle = await control.evaluateHandle(readListboxOf, suggestions);
  const report = await handle.evaluate((read) => read.report);
  await handle.dispose();
  return report;
}
