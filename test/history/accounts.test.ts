import { expect, test } from 'vitest';
import { checkAccounts } from './accounts.ts';
import type { BalanceRecord, GrantRecord, History } from './history.ts';
import { create, created, line, status } from './records.fixture.ts';

function violations(history: History): string[] {
  return checkAccounts(history).flatMap((verdict) => verdict.violations);
}

function balance(
  [beginMs, endMs]: readonly [number, number],
  [balanceMicros, heldMicros]: readonly [bigint, bigint],
): BalanceRecord {
  return { kind: 'balance', tenant: 't', balanceMicros, heldMicros, beginMs, endMs };
}

function grant(
  [beginMs, endMs]: readonly [number, number],
  availableAfterMicros = 100n,
): GrantRecord {
  const outcome = { kind: 'granted', isReplay: false, availableAfterMicros } as const;
  return {
    kind: 'grant',
    tenant: 't',
    reference: 'g',
    amountMicros: 100n,
    beginMs,
    endMs,
    outcome,
  };
}

const granted = line('grant', 100n, [100n, 0n], 'g');
const held = line('hold', 10n, [100n, 10n], 's');
const charged = line('charge', 4n, [96n, 6n], 's');
const released = line('release', 6n, [96n, 0n], 's');
const opened = [grant([0, 1]), granted];
const holds = [...opened, create([2, 4], created('s')), held];

const good: Record<string, History> = {
  'a hold, a charge and a release': [...holds, charged, released],
  'a read before and a read after a hold, both during its request': [
    ...holds,
    balance([1, 3], [100n, 0n]),
    balance([2, 3], [100n, 10n]),
  ],
  'a hold without an answer': [...opened, held, balance([5, 6], [100n, 10n])],
  'two holds in the order of the ledger, with overlapping requests': [
    ...opened,
    create([2, 9], created('s', { available: 80n })),
    create([2, 9], created('r'), { key: 'r' }),
    line('hold', 10n, [100n, 10n], 'r'),
    line('hold', 10n, [100n, 20n], 's'),
  ],
};

const bad: Record<string, [wrong: string, history: History]> = {
  'a row that does not follow from the one before': [
    'computed from the row before:',
    [...opened, line('hold', 10n, [100n, 20n], 's')],
  ],
  'more held than there is': [
    'computed from the row before:',
    [...opened, line('hold', 110n, [100n, 110n], 's')],
  ],
  'a second charge': ['repeats', [...opened, held, charged, line('charge', 4n, [92n, 2n], 's')]],
  'an answer with the figure before the hold': [
    'shows 100 micros available',
    [...opened, create([2, 4], created('s', { available: 100n })), held],
  ],
  'an answer without a row': [
    'the ledger row of its hold is not there',
    [...opened, create([2, 4], created('s'))],
  ],
  'a grant with a figure that never existed': [
    'shows 99 micros available',
    [grant([0, 1], 99n), granted],
  ],
  'a cancel that reports more than it released': [
    'shows 4 micros charged, 7 refunded',
    [
      ...opened,
      held,
      charged,
      released,
      {
        kind: 'cancel',
        submissionId: 's',
        beginMs: 5,
        endMs: 6,
        outcome: { kind: 'cancelled', chargedMicros: 4n, refundedMicros: 7n },
      },
    ],
  ],
  'a status with another charge than the ledger': [
    'the observer `detail` saw 5 micros charged',
    [...holds, charged, released, status('s', 'submitted', [8, 9], { charged: 5n })],
  ],
  'a cancel after the end that shows another charge than the ledger': [
    'the observer `cancel` saw 0 micros charged',
    [
      ...holds,
      charged,
      released,
      {
        kind: 'cancel',
        submissionId: 's',
        beginMs: 8,
        endMs: 9,
        outcome: { kind: 'ended', status: 'submitted', chargedMicros: 0n },
      },
    ],
  ],
  'a hold after a hold whose request began later': [
    'but in the ledger it comes after',
    [
      ...opened,
      create([2, 3], created('s', { available: 80n })),
      create([4, 5], created('r'), { key: 'r' }),
      line('hold', 10n, [100n, 10n], 'r'),
      line('hold', 10n, [100n, 20n], 's'),
    ],
  ],
  'a charge before the end can have happened': [
    'but in the ledger it comes after',
    [
      ...opened,
      create([2, 3], created('s')),
      held,
      charged,
      released,
      status('s', 'running', [8, 9]),
      create([4, 5], created('r', { available: 86n }), { key: 'r' }),
      line('hold', 10n, [96n, 10n], 'r'),
    ],
  ],
  'a balance that never existed': ['never', [...holds, balance([5, 6], [100n, 11n])]],
  'a balance from before a hold that was answered': [
    'had these figures only earlier or later',
    [...holds, balance([5, 6], [100n, 0n])],
  ],
  'a balance after a hold whose request had not begun': [
    'had these figures only earlier or later',
    [...holds, balance([0, 1], [100n, 10n])],
  ],
  'a balance between the charge and the release': [
    'never',
    [...holds, charged, released, balance([5, 6], [96n, 6n])],
  ],
  'two reads, the later one with the older figures': [
    'had these figures only earlier or later',
    [...opened, held, balance([5, 6], [100n, 10n]), balance([7, 8], [100n, 0n])],
  ],
  'a statement that shows other figures than the ledger': [
    'a statement shows',
    [...opened, { ...granted, kind: 'statement', balanceAfterMicros: 99n, beginMs: 2, endMs: 3 }],
  ],
};

test.each(Object.entries(good))('%s is explained', (_name, history) => {
  expect(violations(history)).toEqual([]);
});

test.each(Object.entries(bad))('%s is a violation', (_name, [wrong, history]) => {
  expect(violations(history)).toEqual([expect.stringContaining(wrong)]);
});
