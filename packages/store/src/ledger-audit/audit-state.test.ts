import { expect, test } from 'vitest';
import { faultsMax, type LedgerFault } from '../ledger/ledger-fault.ts';
import { fullPassFrom, withFaults, withoutEarlier } from './audit-state.ts';

const faultAt = (place: number): LedgerFault => ({
  kind: 'figures_differ_from_entries',
  subject: String(place),
  tenantId: null,
  detail: 'from the test',
});

const first = {
  step: 0n,
  recent: { pass: 0, at: null, tenants: 0 },
  full: fullPassFrom(1, new Date(0)),
  lastFull: null,
  faults: [],
};
const known = Array.from({ length: faultsMax }, (_, place) => faultAt(place));

test('a full list keeps a known fault that is found again together with new ones', () => {
  const full = withFaults(first, 'full', 1, known);
  const again = withFaults(full, 'full', 2, [faultAt(faultsMax), faultAt(3)]);
  expect(again.faults).toHaveLength(faultsMax);
  const found = again.faults.filter(({ pass }) => pass === 2);
  expect(found.map(({ subject }) => subject)).toEqual(['3', String(faultsMax)]);
});

test('a pass that finds a new fault after all known ones were repaired ends with the new one', () => {
  const full = withFaults(first, 'full', 1, known);
  const ended = withoutEarlier(withFaults(full, 'full', 2, [faultAt(faultsMax)]), 'full', 2);
  expect(ended.faults.map(({ subject }) => subject)).toEqual([String(faultsMax)]);
});
