import type { RateCardAnswer } from '@svc/contracts';
import { type RateCard, rateCardToJson } from '@svc/domain';

export interface CardChange {
  /** The place of the changed figure in the rate card, such as `ats.application/standard/base`. */
  readonly path: string;
  /**
   * Null if the old card does not have the figure at `path`. `after` is null if the new card does
   * not have it.
   */
  readonly before: string | null;
  readonly after: string | null;
}

export function cardDifference(from: RateCard, to: RateCard): CardChange[] {
  const [old, renewed] = [figuresOf(from), figuresOf(to)];
  const paths = [...new Set([...old.keys(), ...renewed.keys()])].toSorted();
  return paths
    .map((path) => ({ path, before: old.get(path) ?? null, after: renewed.get(path) ?? null }))
    .filter((change) => change.before !== change.after);
}

function figuresOf(card: RateCard): Map<string, string> {
  const { usdPerCredit, jobTypes } = rateCardToJson(card);
  const figures = new Map([['usdPerCredit', usdPerCredit]]);
  for (const { jobType, tiers, typicalUsage } of jobTypes) {
    collect(figures, jobType, tiers);
    collect(figures, `${jobType}/typicalUsage`, typicalUsage);
  }
  return figures;
}

function collect(figures: Map<string, string>, path: string, value: unknown): void {
  if (typeof value !== 'object' || value === null) {
    figures.set(path, String(value));
    return;
  }
  for (const [name, member] of Object.entries(value)) collect(figures, `${path}/${name}`, member);
}

/**
 * Copies the typical usage of `from` to each job type of `card` that has none. `svc rate-card show`
 * prints none, so an edited card would otherwise delete the typical usage.
 */
export function inheritTypicalUsage(card: RateCard, from: RateCard): RateCard {
  return {
    ...card,
    jobTypes: card.jobTypes.map((entry) => {
      if (Object.keys(entry.typicalUsage).length > 0) return entry;
      const known = from.jobTypes.find(({ jobType }) => jobType === entry.jobType);
      return { ...entry, typicalUsage: known?.typicalUsage ?? {} };
    }),
  };
}

export function rateRows({ jobTypes }: RateCardAnswer): string[][] {
  return jobTypes.flatMap(({ jobType, tiers }) =>
    Object.entries(tiers).map(([tier, { base, min, max, tierMultiplier, weights }]) => [
      jobType,
      tier,
      ...[base, min, max, tierMultiplier].map(String),
      Object.entries(weights)
        .map(([unit, weight]) => `${unit} ${weight}`)
        .join(', '),
    ]),
  );
}
