import { dispatchBugs } from './dispatch-bugs.ts';
import { eventBugs } from './event-bugs.ts';
import { historyBugs } from './history-bugs.ts';
import { moneyBugs } from './money-bugs.ts';
import type { Planted } from './planted.ts';
import { waitBugs } from './wait-bugs.ts';

/**
 * Each mutation breaks one of the three promises, if need be together with the removal of a second
 * guard.
 */
export const plantedBugs: readonly Planted[] = [
  ...moneyBugs,
  ...dispatchBugs,
  ...eventBugs,
  ...historyBugs,
  ...waitBugs,
];
