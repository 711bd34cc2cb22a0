import { countryOf, countryOfOption } from './countries.ts';
import type { OptionsValue } from './form-model.ts';
import { normaliseLabel } from './label.ts';
import { isAtPlace } from './places.ts';

type Wanted = Pick<OptionsValue, 'labels' | 'spellings' | 'meaning'>;

/**
 * Finds the option for each label. For a single label, a spelling or the meaning may find it.
 * Undefined if a label has no option. `values` are what the page sends for the options.
 */
export function chooseOptions(
  options: readonly string[],
  { labels, spellings = [], meaning }: Wanted,
  values: readonly string[] = [],
): readonly string[] | undefined {
  const byLabel = Map.groupBy(options, normaliseLabel);
  const chosen = labels.map((label) => optionEqualTo(byLabel, label));
  if (chosen.every((option) => option !== undefined)) return [...new Set(chosen)];
  const [label] = labels;
  if (label === undefined || labels.length > 1) return undefined;
  for (const spelling of spellings) {
    const option = optionEqualTo(byLabel, spelling);
    if (option !== undefined) return [option];
  }
  const same = options.filter((option, index) => isSame(option, values[index], label, meaning));
  const [only, ...others] = same;
  return only === undefined || others.length > 0 ? undefined : [only];
}

/** True if the option means the same place or country, in other words. */
function isSame(
  option: string,
  value: string | undefined,
  label: string,
  meaning: OptionsValue['meaning'],
): boolean {
  if (meaning?.kind === 'place') return isAtPlace(option, meaning.place);
  // Two letters are a country only where the question asks for one: "IN" may be Indiana.
  if (meaning?.kind !== 'country' && normaliseLabel(label).length < 3) return false;
  const country = countryOf(label);
  if (country === undefined) return false;
  if (countryOfOption(option) === country) return true;
  return meaning?.kind === 'country' && value !== undefined && countryOf(value) === country;
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
