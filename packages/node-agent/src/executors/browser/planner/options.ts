import type { OptionsValue } from './form-model.ts';
import { normaliseLabel } from './label.ts';

/**
 * Returns the options that the labels of a value name, as the page shows them. If the value has
 * only one label, and this label does not match exactly one option, the spellings of the value are
 * tried in order. Undefined if an option is still missing or ambiguous.
 */
export function chooseOptions(
  options: readonly string[],
  { labels, spellings = [] }: Pick<OptionsValue, 'labels' | 'spellings'>,
): readonly string[] | undefined {
  const byLabel = Map.groupBy(options, normaliseLabel);
  const chosen = labels.map((label) => optionEqualTo(byLabel, label));
  if (chosen.every((option) => option !== undefined)) return [...new Set(chosen)];
  for (const spelling of labels.length === 1 ? spellings : []) {
    const option = optionEqualTo(byLabel, spelling);
    if (option !== undefined) return [option];
  }
  return undefined;
}

/**
 * The option whose normalised text equals that of a label. If several options have this normalised
 * text, for example "C" and "C++", only an option that is written exactly like the label counts.
 * Undefined unless exactly one option counts.
 */
function optionEqualTo(
  byLabel: ReadonlyMap<string, readonly string[]>,
  label: string,
): string | undefined {
  const wanted = normaliseLabel(label);
  if (wanted === '') return undefined;
  const equal = byLabel.get(wanted) ?? [];
  const exact = equal.filter((option) => exactForm(option) === exactForm(label));
  const [only, ...others] = equal.length > 1 ? exact : equal;
  return others.length === 0 ? only : undefined;
}

function exactForm(text: string): string {
  return text.normalize('NFC').trim();
}
