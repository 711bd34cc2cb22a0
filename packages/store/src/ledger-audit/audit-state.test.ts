import { expect, test } from 'vitest';
import { faultsMax, type LedgerFault } from '../ledger/ledger-fault.ts';
import { fullPassFrom, withFaults } from './audit-state.ts';

const faultAt = (place: number): LedgerFault => ({
  kind: 'figures_differ_from_entries',
  subject: String(place),
  tenantId: null,
  detail: 'from the test',
});

test('a full list keeps a known fault that is found again together with new ones', () => {
  const known = Array.from({ length: faultsMax }, (_, place) => faultAt(place));
  const first = {
    step: 0n,
    recent: { pass: 0, at: null, tenants: 0 },
    full: fullPassFrom(1, new Date(0)),
    lastFull: null,
    faults: [],
  };
  const full = withFaults(first, 'full', 1, known);
  const again = withFaults(full, 'full', 2, [faultAt(faultsMax), faultAt(3)]);
  expect(again.faults.map(({ subject }) => subject)).toEqual(known.map(({ subject }) => subject));
  expect(again.faults[3]).toMatchObject({ subject: '3', pass: 2 });
});
