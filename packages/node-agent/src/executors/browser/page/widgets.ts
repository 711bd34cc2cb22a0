/// <reference lib="dom" />
import type { ElementHandle } from 'playwright-core';
import type { Fill } from '../planner/form-model.ts';
import { chooseOptions, dateText, normaliseLabel, numberIn } from '../planner/index.ts';
import { chooseInDropdown } from './dropdown.ts';
import type { InFlight } from './in-flight.ts';
import type { FieldReport, FieldState } from './in-page/reports.ts';
import { isGone, type ReadForm } from './read-form.ts';
import { typeInEditor, typeKeys } from './typing.ts';

const actionMsMax = 5_000;
const clickMsMax = 3_000;
/**
 * The longest wait for a choice in a `<select>`. Playwright waits this long if the `<select>` lacks
 * the option.
 */
const selectMsMax = 1_500;

export interface FileBytes {
  readonly name: string;
  readonly contentType: string;
  readonly bytes: Buffer;
}

export interface FillContext {
  readonly files: ReadonlyMap<'resume' | 'coverLetter', FileBytes>;
  /**
   * Called once for each option that is clicked in a group or searched in a combobox, and each
   * checkbox that `uncheck` presses. Filled fields count separately (`onFilled`).
   */
  readonly onAction: () => void;
  /**
   * Called with the texts that a widget shows for its chosen options, if they differ from the labels
   * of these options.
   */
  readonly onShown: (key: string, texts: readonly string[]) => void;
  readonly inFlight: InFlight;
  /** The earlier attempts to fill in the field. After them, its text is entered in another way. */
  readonly attempt: number;
  readonly signal: AbortSignal;
}

/**
 * `no_option`: the widget lacks the answer. `part`: it now has only a part of the answer. `refused`:
 * it takes no such value. `not_operable`: it cannot be filled in.
 */
export type Filled = 'filled' | 'part' | 'no_option' | 'refused' | 'not_operable';

/**
 * Enters one value. Rejects if the widget does not take the value in time, for example because the
 * page has replaced the widget.
 */
export async function fillWidget(
  form: ReadForm,
  fill: Fill,
  context: FillContext,
): Promise<Filled> {
  const { field, value } = fill;
  const report = form.report(field.key);
  if (report === undefined) throw new Error('The field is not in the form.');
  const timeout = actionMsMax;
  switch (value.kind) {
    case 'text':
      return await fillText(await form.element(field.key), value.text, report, context.attempt);
    case 'date':
      await fillDate(await form.element(field.key), value.date, report);
      return 'filled';
    case 'check':
      await press(await form.element(field.key));
      return 'filled';
    case 'file': {
      const file = context.files.get(value.file);
      if (file === undefined)
        throw new Error('The plan for the form names a file that the profile does not have.');
      const { name, contentType: mimeType, bytes: buffer } = file;
      await (await form.element(field.key)).setInputFiles({ name, mimeType, buffer }, { timeout });
      return 'filled';
    }
    case 'options':
      return await fillOptions(form, fill, report, context);
  }
}

/**
 * Clicks the control, even if another element covers the control. Throws if the control is hidden
 * or gone, or if its page is gone.
 */
export async function press(control: ElementHandle<HTMLElement>): Promise<void> {
  try {
    await control.click({ timeout: clickMsMax });
  } catch (error) {
    if (isGone(error)) throw error;
    // The click of Playwright fails, for example, if a banner covers the control.
    await control.evaluate((element) => element.click());
  }
}

async function fillText(
  control: ElementHandle<HTMLElement>,
  text: string,
  { isRich = false }: FieldReport,
  attempt: number,
): Promise<Filled> {
  if (isRich) {
    await typeInEditor(control, text, attempt);
    return 'filled';
  }
  // Some masks and checks need the keys of a person.
  if (attempt > 0 && (await typeKeys(control, text))) return 'filled';
  const error = await fillWith(control, text);
  if (error === undefined) return 'filled';
  if (isGone(error)) throw error;
  // An input for numbers takes no currency and no separators of thousands.
  const number = numberIn(text);
  const isTyped = number !== undefined && (await fillWith(control, number)) === undefined;
  if (isTyped) return 'filled';
  if (/Cannot type text into|Malformed value/u.test(messageOf(error))) return 'refused';
  throw error;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}

async function fillWith(control: ElementHandle<HTMLElement>, text: string): Promise<unknown> {
  try {
    await control.fill(text, { timeout: actionMsMax });
    return undefined;
  } catch (error) {
    return error;
  }
}

async function fillDate(
  control: ElementHandle<HTMLElement>,
  date: string,
  { dateFormat }: FieldReport,
): Promise<void> {
  await control.fill(dateText(date, dateFormat), { timeout: actionMsMax });
  // Some pages open a calendar at a text field for dates. Escape closes the calendar.
  if (dateFormat !== undefined) await control.press('Escape');
}

async function fillOptions(
  form: ReadForm,
  { field, value }: Fill,
  report: FieldReport,
  context: FillContext,
): Promise<Filled> {
  if (value.kind !== 'options') return 'not_operable';
  if (field.kind === 'combobox') {
    const takesText = report.suggestions !== undefined;
    const choice = await chooseInDropdown(await form.element(field.key), value, {
      ...context,
      takesText,
    });
    if (choice.kind === 'chosen') context.onShown(field.key, choice.shown);
    return choice.kind === 'chosen' ? 'filled' : choice.kind;
  }
  const options = field.options ?? [];
  const chosen = chooseOptions(options, value);
  if (chosen === undefined) return 'no_option';
  const places = chosen.map((label) => options.indexOf(label));
  if (field.kind === 'select') {
    const indexes = places.map((place) => ({ index: report.optionIndexes?.[place] ?? -1 }));
    const select = await form.element(field.key);
    await select.selectOption(indexes, { timeout: selectMsMax, force: true });
    return 'filled';
  }
  const isChosen = new Set(labelsOf(report.state));
  for (const [place, label] of options.entries()) {
    const isWanted = places.includes(place);
    const isOn = isChosen.has(label);
    if (isWanted === isOn || (!isWanted && field.kind === 'radio')) continue;
    await press(await form.element(field.key, place));
    context.onAction();
  }
  return 'filled';
}

function labelsOf(state: FieldState): readonly string[] {
  return state.kind === 'chosen' ? state.labels : [];
}

/** True if the widget shows the value. Files are compared by their names. */
export function holds(
  report: FieldReport,
  { field, value }: Fill,
  files: FillContext['files'],
): boolean {
  const { state } = report;
  switch (value.kind) {
    case 'text':
      return (
        state.kind === 'text' &&
        isSameText(state.text, value.text, {
          isPhone: field.role === 'phone',
          isRich: report.isRich,
        })
      );
    case 'date':
      return (
        state.kind === 'text' && isSameText(state.text, dateText(value.date, report.dateFormat))
      );
    case 'check':
      return labelsOf(state).length === 1;
    case 'file':
      return state.kind === 'files' && state.names.includes(files.get(value.file)?.name ?? '');
    case 'options':
      return (
        state.kind === 'chosen' && isSameChoice(state.labels, value, field.kind === 'combobox')
      );
  }
}

function lines(text: string): string {
  return text.replaceAll('\r\n', '\n').trim();
}

function digits(text: string): string {
  return text.replaceAll(/\D/gu, '');
}

function isSameText(
  actual: string,
  wanted: string,
  { isPhone = false, isRich = false }: { isPhone?: boolean; isRich?: boolean | undefined } = {},
): boolean {
  if (lines(actual) === lines(wanted)) return true;
  if (isRich) return paragraphs(actual) === paragraphs(wanted);
  const number = numberIn(wanted);
  if (number !== undefined && numberIn(actual) === number) return true;
  if (!isPhone && !/^\+[\d\s()./-]{7,}$/u.test(wanted)) return false;
  // The widget may show the phone number without its first digits, such as the country code.
  const short = digits(actual);
  return short.length >= 7 && /^[+\d\s()./-]*$/u.test(actual) && digits(wanted).endsWith(short);
}

/** The text without empty lines and without spaces at the ends of its lines. */
function paragraphs(text: string): string {
  const all = lines(text).replaceAll('\u00A0', ' ').split('\n');
  return all
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
}

/**
 * True if `actual` shows the wanted labels. If `canDiffer` is true, one of `value.spellings` may be
 * shown in place of a label, and further texts may be shown.
 */
function isSameChoice(
  actual: readonly string[],
  value: { readonly labels: readonly string[]; readonly spellings?: readonly string[] },
  canDiffer: boolean,
): boolean {
  const shown = actual.map(normaliseLabel);
  if (value.labels.length > 1 && shown.length === 1) {
    // Some widgets show all chosen options as one text.
    return shown[0] === normaliseLabel(value.labels.join(' '));
  }
  if (!canDiffer) {
    const isChosen = (label: string): boolean => shown.includes(normaliseLabel(label));
    return shown.length === value.labels.length && value.labels.every(isChosen);
  }
  // A widget that opens may show further texts, such as a hint.
  const accepted = value.spellings ?? [];
  return value.labels.every((label) =>
    [label, ...accepted].some((text) => shown.includes(normaliseLabel(text))),
  );
}
