/// <reference lib="dom" />
import type { ElementHandle } from 'playwright-core';
import type { Fill } from '../planner/form-model.ts';
import { chooseOptions, normaliseLabel } from '../planner/index.ts';
import { chooseInCombobox } from './combobox.ts';
import type { InFlight } from './in-flight.ts';
import type { FieldReport, FieldState } from './in-page/reports.ts';
import { isGone, type ReadForm } from './read-form.ts';

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
  readonly inFlight: InFlight;
}

/**
 * `no_option`: the widget does not offer the answer. `part`: the widget now has a part of the
 * answer, but does not offer all of it. `not_operable`: the widget cannot be filled in.
 */
export type Filled = 'filled' | 'part' | 'no_option' | 'not_operable';

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
      await (await form.element(field.key)).fill(value.text, { timeout });
      return 'filled';
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

async function fillDate(
  control: ElementHandle<HTMLElement>,
  date: string,
  { dateFormat }: FieldReport,
): Promise<void> {
  await control.fill(dateText(date, dateFormat), { timeout: actionMsMax });
  // Some pages open a calendar at a text field for dates. Escape closes the calendar.
  if (dateFormat !== undefined) await control.press('Escape');
}

function dateText(date: string, format: string | undefined): string {
  if (format === undefined) return date;
  const [year = '', month = '', day = ''] = date.split('-');
  return format.replace('yyyy', year).replace('mm', month).replace('dd', day);
}

async function fillOptions(
  form: ReadForm,
  { field, value }: Fill,
  report: FieldReport,
  context: FillContext,
): Promise<Filled> {
  if (value.kind !== 'options') return 'not_operable';
  if (field.kind === 'combobox') {
    const control = await form.element(field.key);
    const { suggestions } = report;
    const choice = await chooseInCombobox(control, value, { suggestions, ...context });
    return choice === 'chosen' ? 'filled' : choice;
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
      return state.kind === 'text' && isSameText(state.text, value.text, field.role === 'phone');
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

function isSameText(actual: string, wanted: string, isPhone = false): boolean {
  if (lines(actual) === lines(wanted)) return true;
  if (!isPhone) return false;
  // The widget may show the phone number without its first digits, such as the country code.
  const short = digits(actual);
  return short.length >= 7 && digits(wanted).endsWith(short);
}

/**
 * True if `actual` shows the wanted labels. If `canDiffer` is true, one of `value.spellings` may be
 * shown in place of a label.
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
  const spellings = canDiffer ? (value.spellings ?? []) : [];
  const isChosen = (label: string): boolean =>
    [label, ...spellings].some((text) => shown.includes(normaliseLabel(text)));
  return shown.length === value.labels.length && value.labels.every(isChosen);
}
