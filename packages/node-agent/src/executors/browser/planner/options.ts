import type { OptionsValue } from './form-model.ts';
import { normaliseLabel } from './label.ts';

/**
 * Finds the option for each label. A single label without an option is replaced by the first of
 * `spellings` that has one. Undefined if a label stays without an option.
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
 * The option with the same normalised text as the label. If several have it, such as "C" and "C++",
 * the exact text decides. Undefined if there is not exactly one.
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
