import { expect, test } from 'vitest';
import { readRules } from '../rules.ts';
import { liveFaults } from './faults.ts';
import { alertFaults } from './judge.ts';

const fault = { must: ['SvcProcessDown'], may: ['SvcSettlementStuck'] };
const good = { quiet: [], fired: new Map([['SvcProcessDown', 31]]), endedSeconds: 4 };

test('an alert in time, and a consequence at any time, are no fault', () => {
  expect(alertFaults(fault, good)).toEqual([]);
  const fired = new Map([...good.fired, ['SvcSettlementStuck', 150]] as const);
  expect(alertFaults(fault, { ...good, fired })).toEqual([]);
});

test('a late, a missing, a false, an early and an endless alert are faults', () => {
  const judged = (change: object) => alertFaults(fault, { ...good, ...change });
  expect(judged({ fired: new Map([['SvcProcessDown', 61]]) })).toHaveLength(1);
  expect(judged({ fired: new Map() })).toHaveLength(1);
  expect(judged({ fired: new Map([...good.fired, ['SvcQueueOld', 20]]) })).toHaveLength(1);
  expect(judged({ quiet: ['SvcLedgerAuditLate'] })).toHaveLength(1);
  expect(judged({ endedSeconds: undefined })).toHaveLength(1);
});

test('the faults name alerts that exist', () => {
  const names = readRules().map(({ alert }) => alert);
  for (const { must, may } of liveFaults)
    expect(names).toEqual(expect.arrayContaining([...must, ...may]));
});
