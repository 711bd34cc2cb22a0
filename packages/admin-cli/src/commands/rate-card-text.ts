import type { RateCardAnswer } from '@svc/contracts';
import { type RateCard, rateCardToJson } from '@svc/domain';

export interface CardChange {
  /** Such as `ats.application/standard/base`. */
  readonly path: string;
  /** Null: not there. */
  readonly before: string | null;
  readonly after: string | null;
}

/** What differs from one card to the next, in the order of its names. */
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
 * What the API shows of a card leaves its typical usage out: a card that was read there, changed
 * and given back keeps the estimates it had.
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

/** A row for each job type and tier. */
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
