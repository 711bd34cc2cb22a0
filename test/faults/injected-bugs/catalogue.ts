import { dispatchBugs } from './dispatch-bugs.ts';
import { eventBugs } from './event-bugs.ts';
import { fenceBugs } from './fence-bugs.ts';
import { historyBugs } from './history-bugs.ts';
import type { InjectedBug } from './injected-bug.ts';
import { moneyBugs } from './money-bugs.ts';
import { submissionBugs } from './submission-bugs.ts';
import { waitBugs } from './wait-bugs.ts';

/**
 * Most of the bugs break one of the three promises (docs/ARCHITECTURE.md). Some bugs also remove a
 * second check that would hide the bug.
 */
export const injectedBugs: readonly InjectedBug[] = [
  ...moneyBugs,
  ...dispatchBugs,
  ...eventBugs,
  ...historyBugs,
  ...waitBugs,
  ...submissionBugs,
  ...fenceBugs,
];
