import type { FieldCase } from '../field-case.ts';
import { reportedCases } from './reported.ts';

export const fieldCases: readonly FieldCase[] = [...reportedCases];
