/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type { ReadingRules } from '../../adapters/adapter.ts';
import type { FormField, WidgetKind } from '../../planner/form-model.ts';
import type * as context from './context.ts';
import type * as dates from './dates.ts';
import type * as groups from './groups.ts';
import type * as labels from './labels.ts';
import type * as masks from './masks.ts';
import type { FieldReport, FormReport } from './reports.ts';
import type * as roots from './roots.ts';
import type * as states from './states.ts';
import type * as visibility from './visibility.ts';

declare const allBelow: typeof visibility.allBelow;
declare const companionsOf: typeof labels.companionsOf;
declare const contextOf: typeof context.contextOf;
declare const hintOf: typeof context.hintOf;
declare const isVisible: typeof visibility.isVisible;
declare const namedBy: typeof labels.namedBy;
declare const chosenOf: typeof states.chosenOf;
declare const closestAcross: typeof visibility.closestAcross;
declare const comboboxStateOf: typeof states.comboboxStateOf;
declare const dateFormatOf: typeof dates.dateFormatOf;
declare const datePartOf: typeof dates.datePartOf;
declare const editorOf: typeof masks.editorOf;
declare const maskOf: typeof masks.maskOf;
declare const filesOf: typeof states.filesOf;
declare const addressOf: typeof roots.addressOf;
declare const findRoot: typeof roots.findRoot;
declare const groupLabelOf: typeof labels.groupLabelOf;
declare const groupOf: typeof groups.groupOf;
declare const hasMessageFor: typeof states.hasMessageFor;
declare const hasRequiredMark: typeof labels.hasRequiredMark;
declare const isReachable: typeof groups.isReachable;
declare const isRefused: typeof states.isRefused;
declare const labelOf: typeof labels.labelOf;
declare const labelsFor: typeof labels.labelsFor;
declare const optionLabelOf: typeof groups.optionLabelOf;
declare const questionLabel: typeof labels.questionLabel;
declare const selectedOf: typeof states.selectedOf;
declare const shapeOf: typeof groups.shapeOf;

interface Gathered {
  readonly shape: groups.Shape;
  readonly first: HTMLElement;
  readonly controls: HTMLElement[];
  readonly isGroup: boolean;
}

export function gather(root: ParentNode, rules: ReadingRules): Gathered[] {
  const found: Gathered[] = [];
  const byShape: Partial<Record<groups.Shape, Map<HTMLElement | string, Gathered>>> = {};
  const buttons = rules.buttonGroup === undefined ? '' : `, ${rules.buttonGroup.option}`;
  const selector = `input, select, textarea, [contenteditable="true"], [role="combobox"], [role="radio"], [role="checkbox"], [role="switch"], [aria-haspopup], iframe${buttons}`;
  const masked = allBelow(root, 'select').flatMap((select) => maskOf(select) ?? []);
  for (const control of allBelow(root, selector)) {
    if (rules.ignored !== undefined && control.matches(rules.ignored)) continue;
    // The hidden select of a mask has the label and the options of both.
    if (masked.some((mask) => mask.contains(control))) continue;
    const shape = shapeOf(control, rules);
    if (shape === undefined || !isReachable(control, shape, rules)) continue;
    const isOption = shape === 'radio' || shape === 'checkbox' || shape === 'button';
    const group = isOption ? groupOf(control, shape, rules) : undefined;
    const byGroup = (byShape[shape] ??= new Map());
    const known = group === undefined ? undefined : byGroup.get(group);
    if (known !== undefined) {
      known.controls.push(control);
      continue;
    }
    const isGroup = isOption && (shape !== 'checkbox' || group instanceof HTMLElement);
    const gathered = { shape, first: control, controls: [control], isGroup };
    found.push(gathered);
    if (group !== undefined) byGroup.set(group, gathered);
  }
  return found;
}

export function kindOf({ shape, controls, isGroup }: Gathered): WidgetKind {
  if (shape === 'checkbox') return isGroup || controls.length > 1 ? 'checkboxes' : 'checkbox';
  return shape === 'button' ? 'radio' : shape;
}

export function isMarked(element: Element): boolean {
  return element.hasAttribute('required') || element.getAttribute('aria-required') === 'true';
}

export function isRequired(gathered: Gathered, label: string, rules: ReadingRules): boolean {
  const { controls, first } = gathered;
  if (controls.some(isMarked)) return true;
  const isGroup = kindOf(gathered) === 'radio' || kindOf(gathered) === 'checkboxes';
  const group = isGroup
    ? closestAcross(first, 'fieldset, [role="radiogroup"], [role="group"]')
    : null;
  if (group !== null && isMarked(group)) return true;
  if (gathered.shape === 'combobox' && companionsOf(first).some(isMarked)) return true;
  const [named] = namedBy(group ?? first, 'aria-labelledby');
  const legend = isGroup ? group?.querySelector('legend') : labelsFor(first)[0];
  const mark = questionLabel(first, rules) ?? legend ?? named;
  const css = rules.question?.required;
  if (css !== undefined && mark && (mark.matches(css) || mark.querySelector(css) !== null))
    return true;
  return hasRequiredMark(label, mark ?? undefined);
}

/**
 * A key that is unique in the form. If the form is rendered again, the key stays the same, unless
 * the place of the field is part of the key.
 */
export function keyOf(control: HTMLElement, place: number, used: ReadonlySet<string>): string {
  const path =
    closestAcross(control, '[data-field-path]')?.getAttribute('data-field-path') ??
    closestAcross(control, '[data-ui^="QA_"], [data-ui^="CA_"]')?.getAttribute('data-ui');
  const isStable = !/^(?::r|react-|radix-|headlessui-)/u.test(control.id);
  const name = path || control.getAttribute('name') || (isStable ? control.id : '');
  const base = name || `field-${place}`;
  let key = base;
  for (let suffix = place; used.has(key); suffix += 1) key = `${base}-${suffix}`;
  return key;
}

export function optionsOf(gathered: Gathered): Pick<FormField, 'options' | 'optionValues'> {
  const { shape, controls, first } = gathered;
  if (first instanceof HTMLSelectElement) {
    const usable = [...first.options].filter(({ value, disabled }) => value !== '' && !disabled);
    const mask = maskOf(first);
    // The page sets an option without a label only as the value of a mask.
    const options = usable.filter(({ label }) => mask === undefined || label.trim() !== '');
    // Some pages load the options of a masked select only when it is opened.
    if (options.length === 0 && mask !== undefined) return {};
    return {
      options: options.map((option) => option.label.trim()),
      optionValues: options.map(({ value }) => value),
    };
  }
  const kind = kindOf(gathered);
  if (shape === 'combobox' || (kind !== 'radio' && kind !== 'checkboxes')) return {};
  return { options: controls.map(optionLabelOf) };
}

export function stateOf({ shape, controls }: Gathered, rules: ReadingRules): FieldReport['state'] {
  const [first] = controls;
  if (first === undefined) return { kind: 'text', text: '' };
  const mask = maskOf(first);
  if (mask !== undefined) return comboboxStateOf(mask);
  if (first instanceof HTMLSelectElement) return selectedOf(first);
  if (shape === 'radio' || shape === 'checkbox' || shape === 'button') return chosenOf(controls);
  if (shape === 'combobox') return comboboxStateOf(first);
  if (first instanceof HTMLInputElement && shape === 'file') return filesOf(first, rules);
  const isNative = first instanceof HTMLInputElement || first instanceof HTMLTextAreaElement;
  return { kind: 'text', text: isNative ? first.value : (editorOf(first)?.innerText ?? '') };
}

export function reportOf(gathered: Gathered, key: string, rules: ReadingRules): FieldReport {
  const { shape, controls, first } = gathered;
  const kind = kindOf(gathered);
  const isGroup = kind === 'radio' || kind === 'checkboxes';
  const label =
    kind === 'checkbox'
      ? optionLabelOf(first)
      : isGroup
        ? groupLabelOf(controls, rules)
        : labelOf(first, rules);
  const role = rules.roles.find(({ control }) =>
    controls.some((one) => one.matches(control)),
  )?.role;
  const isMultiple = kind === 'checkboxes' || isSeveral(first);
  const dateFormat = shape === 'date' ? dateFormatOf(first) : undefined;
  const isText = first instanceof HTMLInputElement || first instanceof HTMLTextAreaElement;
  const maxLength = isText ? first.maxLength : -1;
  const isOneLine = kind === 'text' && first instanceof HTMLInputElement;
  const hint = hintOf(first);
  const headings = contextOf(first);
  const datePart = datePartOf(first);
  const suggestions = rules.typeaheads?.find(({ control }) => first.matches(control))?.options;
  return {
    field: {
      key,
      kind,
      label: withoutMark(label),
      isRequired: isRequired(gathered, label, rules),
      ...optionsOf(gathered),
      ...(role === undefined ? {} : { role }),
      ...(isMultiple ? { isMultiple } : {}),
      ...(kind === 'text' && maxLength >= 0 ? { maxLength } : {}),
      ...(isOneLine ? { isMultiline: false } : {}),
      ...(hint === '' ? {} : { hint }),
      ...(headings.length === 0 ? {} : { headings }),
      ...(datePart === undefined ? {} : { datePart }),
    },
    state: stateOf(gathered, rules),
    isInvalid: controls.some(isRefused),
    isMarked: controls.some((control) => control.getAttribute('aria-invalid') === 'true'),
    hasMessage: hasMessageFor(controls, rules),
    autocomplete: (first.getAttribute('autocomplete') ?? '').toLowerCase().trim(),
    ...(dateFormat === undefined ? {} : { dateFormat }),
    ...(suggestions === undefined ? {} : { suggestions }),
    ...(first instanceof HTMLSelectElement ? { optionIndexes: indexesOf(first) } : {}),
    ...(editorOf(first) === undefined ? {} : { isRich: true }),
    names: [key, first.id, first.getAttribute('data-ui') ?? ''].filter((name) => name !== ''),
  };
}

export function isSeveral(control: HTMLElement): boolean {
  const canBe = control instanceof HTMLInputElement || control instanceof HTMLSelectElement;
  return canBe && control.multiple;
}

export function withoutMark(label: string): string {
  return label.replace(/^\s*[*✱]+\s*|\s*[*✱]+\s*$/gu, '');
}

export function indexesOf(select: HTMLSelectElement): number[] {
  return [...select.options]
    .filter(({ value, disabled }) => value !== '' && !disabled)
    .map(({ index }) => index);
}

/**
 * `report` is undefined if there is no form. `elements` has the controls of each field. A hidden
 * radio or checkbox is replaced by its visible label, if there is one.
 */
export function readForm(rules: ReadingRules): {
  report: FormReport | undefined;
  elements: HTMLElement[][];
} {
  const root = findRoot(rules);
  if (root === undefined) return { report: undefined, elements: [] };
  const used = new Set<string>();
  const fields: FieldReport[] = [];
  const elements: HTMLElement[][] = [];
  for (const [place, gathered] of gather(root, rules).entries()) {
    const key = keyOf(gathered.first, place, used);
    used.add(key);
    fields.push(reportOf(gathered, key, rules));
    const isOption = gathered.shape === 'radio' || gathered.shape === 'checkbox';
    elements.push(
      gathered.controls.map(
        (control) =>
          maskOf(control) ??
          (isOption && !isVisible(control)
            ? (labelsFor(control).find(isVisible) ?? control)
            : control),
      ),
    );
  }
  return { report: { fields, ...addressOf(root) }, elements };
}
