import type { Planted } from './planted.ts';

export const plantedBugs: readonly Planted[] = [];
