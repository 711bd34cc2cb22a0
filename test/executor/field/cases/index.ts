import type { FieldCase } from '../field-case.ts';
import { proofCases } from './proof.ts';
import { readingCases } from './reading.ts';
import { reportedCases } from './reported.ts';
import { trapCases } from './traps.ts';

export const fieldCases: readonly FieldCase[] = [
  ...reportedCases,
  ...readingCases,
  ...trapCases,
  ...proofCases,
];
